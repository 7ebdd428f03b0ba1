#!/bin/sh
# The rest of machine_init.sh for a host whose process 1 is to be systemd. It comes by fw_cfg, too.
# What is in /run is forgotten with the boot, as all that is not on the host's disk.
units=/run/systemd/system
mkdir -p $units/multi-user.target.wants
# Nobody logs in at the console, and nothing is fetched or cleaned on a host of minutes; each unit
# costs an emulated CPU a tenth of a second.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
	e2scrub_all.timer e2scrub_reap.service getty.target systemd-binfmt.service \
	systemd-pstore.service systemd-tmpfiles-clean.timer systemd-random-seed.service \
	systemd-update-utmp.service systemd-update-utmp-runlevel.service \
	systemd-journal-flush.service systemd-ask-password-wall.path \
	systemd-ask-password-console.path dev-mqueue.mount sys-kernel-tracing.mount \
	sys-kernel-config.mount sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount \
	kmod-static-nodes.service modprobe@configfs.service modprobe@dm_mod.service \
	modprobe@drm.service modprobe@efi_pstore.service modprobe@fuse.service \
	modprobe@loop.service systemd-sysusers.service; do
	ln -s /dev/null $units/$unit
done
if [ ! -e /etc/lab-units ]; then
	# Whoever wants it starts it, as on a host without systemd.
	rm -f /etc/systemd/system/multi-user.target.wants/openvswitch-switch.service
	: >/etc/lab-units
fi
cat >$units/lab-ready.service <<-'END'
	[Unit]
	After=ssh.service
	[Service]
	Type=oneshot
	ExecStart=/bin/sh -c 'echo lab-ready >/dev/ttyS0'
END
ln -s ../lab-ready.service $units/multi-user.target.wants/lab-ready.service
exec /lib/systemd/systemd
