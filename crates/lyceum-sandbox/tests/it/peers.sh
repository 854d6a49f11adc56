# Runs a program in a network of its own, where 1.1.1.1 answers at port 80 and 8.8.8.8 never does: peers.sh PROGRAM ARGUMENT ...
set -e
if [ "$PEERS" != ready ]; then PEERS=ready exec unshare --mount --net sh "$0" "$@"; fi
mount -t tmpfs tmpfs /run
ip netns add far
ip link set lo up
ip link add near type veth peer name far netns far
ip address add 192.0.2.2/24 dev near
ip -n far address add 1.1.1.1/32 dev far
ip link set near up
ip -n far link set far up
ip route add default dev near
ip -n far route add 192.0.2.0/24 dev far
# What is sent to it arrives nowhere, and nobody says so.
ip neighbour add 8.8.8.8 lladdr 02:00:00:00:00:08 dev near
mkfifo /run/listens
ip netns exec far /usr/bin/python3 -c '
import socket
server = socket.create_server(("1.1.1.1", 80))
open("/run/listens", "w").close()
while True:
    one = server.accept()[0]
    one.sendall(one.recv(99).upper())
' </dev/null >/dev/null 2>&1 &
peer=$!
trap 'kill $peer' EXIT
read -r _ </run/listens || true
"$@"
