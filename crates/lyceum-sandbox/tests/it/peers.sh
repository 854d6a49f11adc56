# Runs a program in a network of its own, where 1.1.1.1 answers at port 80, 8.8.8.8 never does, and every name stands for
# 1.1.1.1, by a name server that has no public address: peers.sh PROGRAM ARGUMENT ...
set -e
if [ "$PEERS" != ready ]; then PEERS=ready exec unshare --mount --net sh "$0" "$@"; fi
mount -t tmpfs tmpfs /run
echo nameserver 192.0.2.53 >/run/resolv.conf
# It may be a link into /run, which is empty now.
resolv=$(readlink -m /etc/resolv.conf)
[ -e "$resolv" ] || { mkdir -p "${resolv%/*}"; touch "$resolv"; }
mount --bind /run/resolv.conf "$resolv"
ip netns add far
ip link set lo up
ip link add near type veth peer name far netns far
ip address add 192.0.2.2/24 dev near
ip -n far address add 1.1.1.1/32 dev far
ip -n far address add 192.0.2.53/32 dev far
ip link set near up
ip -n far link set far up
ip route add default dev near
ip -n far route add 192.0.2.0/24 dev far
# What is sent to it arrives nowhere, and nobody says so.
ip neighbour add 8.8.8.8 lladdr 02:00:00:00:00:08 dev near
mkfifo /run/listens
ip netns exec far /usr/bin/python3 -c '
import socket, threading
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("192.0.2.53", 53))
def resolve():
    while True:
        query, client = names.recvfrom(512)
        end = query.index(0, 12) + 5
        # Only questions for an IPv4 address have an answer.
        found = query[end - 4:end - 2] == b"\0\1"
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if found else b"\0\0") + bytes(4) + query[12:end]
        names.sendto(head + (b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\1\1\1\1" if found else b""), client)
threading.Thread(target=resolve, daemon=True).start()
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
