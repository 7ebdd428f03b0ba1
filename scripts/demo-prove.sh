#!/bin/sh
# Two virtual hosts, badly set, and `wirespeed prove` on them: leaves RUN/lab.yaml and RUN/lab/.
#
#     scripts/demo-prove.sh RUN
set -eu

run=$1
lab=demo-$$
wirespeed=.venv/bin/wirespeed
mkdir -p "$run"

# However this ends, the hosts are taken down.
trap '$wirespeed lab down $lab >/dev/null 2>&1 || :' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

$wirespeed lab up --switch --name "$lab" alpha,cpus=2 beta,cpus=2
echo "Setting both hosts badly: MTU 1400, one queue, no VFs, TCP without autotuning"
for host in alpha beta; do
	$wirespeed lab shell --name "$lab" "$host" '
		set -e
		ip link set dev enp2s0 mtu 1400
		ethtool -L enp1s0 combined 1
		ethtool -L enp2s0 combined 1
		sysctl -q -w net.ipv4.tcp_moderate_rcvbuf=0
		# Both ports were reset for it: as found is a host whose links are up.
		timeout 30 sh -c "until grep -q 1 /sys/class/net/enp1s0/carrier &&
			grep -q 1 /sys/class/net/enp2s0/carrier; do sleep 0.2; done"
		sleep 2'
done

cat >"$run/lab.yaml" <<END
# Two tenants, each with a guest on either host: namespaces that own VFs, kept apart by VLANs.
hosts:
  alpha: {reach: ssh://alpha.$lab, ports: ["0000:01:00.0", "0000:02:00.0"]}
  beta:  {reach: ssh://beta.$lab,  ports: ["0000:01:00.0", "0000:02:00.0"]}
approach: legacy-vlan
failover: active-backup
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public:  {segment: 40, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  ceph-1: {host: alpha, networks: [storage], kind: namespace}
  gpu-1:  {host: beta,  networks: [storage], kind: namespace}
  cam-1:  {host: alpha, networks: [public],  kind: namespace}
  tv-1:   {host: beta,  networks: [public],  kind: namespace}
measure:  # short: the published method takes 3 runs of 10 s, and 10000 packets
  iperf3:    {mtu: [1500, 9000], streams: [2], runs: 1, seconds: 1}
  ping:      {count: 100, warmup: 1, runs: 1}
  failover:  {load_pps: 200, seconds: 5}
  isolation: {frames: 34}
END

# The plan and each finding are in the log; the stages are enough to see that it goes on.
echo "Proving it: doctor, plan, apply, measure, undo"
{
	status=0
	$wirespeed prove "$run/lab.yaml" --yes --out "$run/lab" 2>&1 || status=$?
	echo "$status" >"$run/lab.status"
} | tee "$run/lab.log" | grep --line-buffered '^\[' || :
status=$(cat "$run/lab.status")
rm "$run/lab.status"
# Of a failure the error is the last thing that was said.
[ "$status" -le 1 ] || tail -n 12 "$run/lab.log" >&2
exit "$status"
