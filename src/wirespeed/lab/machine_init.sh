#!/bin/sh
# Process 1 of a lab's host: names, keys, the control port; then sshd, or systemd with sshd. What it
# needs to know comes from the machine that runs the lab (QEMU's fw_cfg).
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
told=/sys/firmware/qemu_fw_cfg/by_name/opt/wirespeed
if [ ! -e /run/lab-mounted ]; then
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t tmpfs -o mode=755 run /run
	mkdir -p /dev/pts /dev/shm /run/sshd /run/lock
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	mount -t tmpfs shm /dev/shm
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount -t debugfs debugfs /sys/kernel/debug
	: >/run/lab-mounted
	# A ConnectX card's driver takes 2 s to load here, and a host without the card has none.
	drivers="qemu_fw_cfg virtio_net igb"
	! grep -q 0x15b3 /sys/bus/pci/devices/*/vendor || drivers="$drivers mlx5_core"
	# shellcheck disable=SC2086 # a list of modules
	modprobe -a $drivers
	if [ -e $told/disk ]; then
		# What is written goes to a disk, over the same image: a reboot finds it again.
		modprobe ext4
		cd /mnt && mkdir low disk new && mount -t erofs -o ro /dev/vda low &&
			mount -t ext4 /dev/vdb disk && mkdir -p disk/upper disk/work &&
			upper=upperdir=disk/upper,workdir=disk/work &&
			mount -t overlay -o "lowerdir=low,$upper" overlay new &&
			exec switch_root /mnt/new /usr/lib/lab/init 2>/dev/null
		echo "lab-failed: no disk" >/dev/ttyS0
	fi
fi
# Of its own for each host: udev makes the VFs' addresses of it.
tr -d - </sys/class/dmi/id/product_uuid >/etc/machine-id
name=$(cat $told/name/raw)
cat $told/authorized_keys/raw >/root/.ssh/authorized_keys
cat $told/host_key/raw >/etc/ssh/ssh_host_ed25519_key
echo "$name" >/proc/sys/kernel/hostname
echo "$name" >/etc/hostname
printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" >/etc/hosts
chmod 600 /etc/ssh/ssh_host_ed25519_key /root/.ssh/authorized_keys

# Names as udev would give them: enp1s0 is port 0 in slot 0 of bus 1, enp1s0f1 port 1 of a card that
# has several. The control port is lab0. One `ip` for all: a program takes 0.1 s to start here.
links() {
	echo "link set lo up"
	for folder in /sys/class/net/*; do
		[ -e "$folder/device" ] || continue
		address=$(cd -P "$folder/device" && echo "$PWD")
		driver=$(cd -P "$folder/device/driver" && echo "$PWD")
		case $driver in
		*/virtio_net)
			name=lab0
			echo "address add 10.0.2.15/24 dev ${folder##*/}"
			;;
		*)
			address=${address##*/} bus=${address#*:}
			slot=${bus#*:} bus=${bus%%:*}
			function=f${slot#*.} slot=${slot%.*}
			[ -e "/sys/bus/pci/devices/${address%.*}.1" ] || function=
			name=enp$((0x$bus))s$((0x$slot))$function
			;;
		esac
		echo "link set ${folder##*/} name $name"
		echo "link set $name up"
	done
}
links | ip -force -batch -

# A host has these tools where that is asked for: without them it is sooner looked at.
[ -e $told/mstflint ] || rm -f /usr/bin/mst*

cat >/etc/ssh/sshd_config <<'END'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
MaxStartups 200
MaxSessions 200
PrintMotd no
Subsystem sftp internal-sftp
END
if [ -e $told/systemd ]; then
	# shellcheck source=src/wirespeed/lab/machine_systemd.sh
	. $told/systemd/raw
fi
# Loads drivers and gives names to what comes later: VFs.
/lib/systemd/systemd-udevd --daemon >/dev/null 2>&1
/usr/sbin/sshd || echo "lab-failed: no sshd" >/dev/ttyS0
# It goes into the background before it listens: who connects by then is reset.
until grep -q ': 00000000:0016 .* 0A ' /proc/net/tcp; do sleep 0.1; done
echo "lab-ready" >/dev/ttyS0
# Process 1 reaps what lost its parent.
while :; do
	sleep 3600 &
	wait $!
done
