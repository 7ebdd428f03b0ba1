#!/bin/sh
# The kernel of a lab's hosts, in the folder OUT: `vmlinux`, `release`, and in `work/slim` the
# drivers that they need.
#
#     machine_kernel.sh OUT KERNEL_PACKAGE
set -eu

out=$1 kernel=$2
work=$out/work
mkdir "$work/tree" "$work/slim"
cd "$work"

# What a host needs beside what Debian builds into its kernel.
modules='
	af_packet bonding br_netfilter bridge cls_basic cls_flower cls_matchall cls_u32 dummy
	act_csum act_ct act_gact act_mirred act_mpls act_pedit act_police act_skbedit
	act_tunnel_key act_vlan
	ext4 i2c_algo_bit igb igbvf ip_tables ip6_tables iptable_filter macvlan nf_conntrack nf_nat
	nf_tables nft_chain_nat nft_compat openvswitch overlay qemu_fw_cfg
	sch_fq sch_fq_codel sch_htb sch_ingress sch_mqprio sch_prio sch_tbf
	tcp_bbr tun veth vfio vfio_iommu_type1 vfio_pci vhost_net virtio_blk virtio_net virtio_rng
	geneve vport_geneve vport_vxlan vxlan x_tables 8021q kvm_intel kvm_amd msr mlx5_core
	nf_log_syslog af_packet_diag
	inet_diag tcp_diag udp_diag unix_diag netlink_diag
	fat vfat nls_ascii nls_cp437 nls_utf8 isofs
'
first='virtio_pci virtio_blk crc32c_generic erofs overlay'

apt-get download -q "$kernel" >&2
dpkg-deb --fsys-tarfile ./*.deb | tar -x -C tree ./boot ./lib/modules
release=$(ls tree/lib/modules)
depmod -b tree "$release"
files_of() {
	for name in "$@"; do
		# No file is printed of what is built in, or what this kernel has not.
		modprobe -d "$work/tree" -S "$release" --show-depends "$name" 2>/dev/null || true
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
# Unpacked: to unpack them at every boot costs an emulated CPU seconds.
unpack() {
	mkdir -p "$(dirname "$2")"
	case $1 in
	*.xz) xz -dc "$1" >"${2%.xz}" ;;
	*.zst) zstd -qdc "$1" >"${2%.zst}" ;;
	*) cp "$1" "$2" ;;
	esac
}
# shellcheck disable=SC2086 # a list of names
files_of $modules $first | while read -r file; do
	unpack "$file" "slim/modules/$release/${file#*/lib/modules/"$release"/}"
done
cp tree/lib/modules/"$release"/modules.builtin* tree/lib/modules/"$release"/modules.order \
	"slim/modules/$release/"
mkdir -p slim/initramfs/modules slim/initramfs/bin
number=10
# shellcheck disable=SC2086
for file in $(files_of $first); do
	unpack "$file" "slim/initramfs/modules/$number-$(basename "$file")"
	number=$((number + 1))
done

# The kernel's file unpacks itself, which takes an emulated CPU seconds: unpack it here.
# Where it is in there: setup_sects, payload_offset, payload_length of the kernel's
# Documentation/arch/x86/boot.rst.
number_at() {
	od -An -t"u$2" -j"$1" -N"$2" tree/boot/vmlinuz-* | tr -d ' '
}
start=$((($(number_at 497 1) + 1) * 512 + $(number_at 584 4)))
# The last 4 bytes are the length when unpacked.
tail -c +$((start + 1)) tree/boot/vmlinuz-* | head -c $(($(number_at 588 4) - 4)) >packed
case $(od -An -tx1 -N4 packed | tr -d ' ') in
28b52ffd) zstd -qdc packed >"$out/vmlinux" ;;
fd377a58) xz -dc packed >"$out/vmlinux" ;;
*) echo "the kernel is packed in a way that is not known here" >&2 && exit 1 ;;
esac
echo "$release" >"$out/release"
rm -r tree ./*.deb packed
