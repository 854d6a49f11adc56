import ctypes, errno, os, socket, struct, sys, threading

port = int(os.environ['SKILL_ARG_PORT'])
libc = ctypes.CDLL(None, use_errno=True)
DENIED = (errno.EACCES, errno.EPERM)


def probe(name, function):
    """Whatever the network itself says is no denial: there may be none here."""
    try:
        function()
        print(name, 'ALLOWED')
    except OSError as error:
        print(name, 'DENIED' if error.errno in DENIED else 'ALLOWED')
        print(name, error, file=sys.stderr)


def tcp(address, family=socket.AF_INET, port=port):
    def work():
        with socket.socket(family) as one:
            one.setblocking(False)
            one.connect((address, port))
    return work


def udp(address, port=port):
    def work():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((address, port))
            one.send(b'x')
    return work


def datagram():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def sendmmsg():
    address = ctypes.create_string_buffer(struct.pack('=H', socket.AF_INET) + struct.pack('!H4s8x', port, bytes([127, 0, 0, 1])))
    data = ctypes.create_string_buffer(b'x')
    part = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(data), 1))
    message = ctypes.create_string_buffer(
        struct.pack('QQQQQQQQ', ctypes.addressof(address), 16, ctypes.addressof(part), 1, 0, 0, 0, 0))
    with datagram() as one:
        if libc.sendmmsg(one.fileno(), message, 1, 0) < 0:
            raise OSError(ctypes.get_errno(), 'sendmmsg')


def route(family, level, option, value):
    def work():
        with socket.socket(family) as one:
            one.setsockopt(level, option, value)
    return work


def pair():
    one, other = socket.socketpair()
    assert one.sendmsg([b'a', b'bc']) == 3 and other.recv(9) == b'abc'


probe('public tcp', tcp('1.1.1.1', port=443))
probe('public tcp by an IPv6 socket', tcp('::ffff:1.1.1.1', socket.AF_INET6, 443))
probe('public udp', udp('1.1.1.1', 443))
for server in os.environ['SKILL_ARG_RESOLVERS'].split():
    family = socket.AF_INET6 if ':' in server else socket.AF_INET
    probe('resolver', tcp(server, family, 53))
    probe('resolver, another port', tcp(server, family, 54))
probe('a message between processes', pair)
for address in ['127.0.0.1', '127.1.2.3', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1',
                '169.254.169.254', '168.63.129.16', '224.0.0.1', '255.255.255.255']:
    probe('tcp ' + address, tcp(address))
for address in ['::1', '::', '::ffff:127.0.0.1', '::ffff:10.0.0.1', 'fd00:ec2::254', 'fe80::1', '64:ff9b::7f00:1']:
    probe('tcp ' + address, tcp(address, socket.AF_INET6))
probe('localhost', lambda: socket.create_connection(('localhost', port), 2))
probe('udp', udp('127.0.0.1'))
probe('sendto', lambda: datagram().sendto(b'x', ('127.0.0.1', port)))
probe('sendto a public address', lambda: datagram().sendto(b'x', ('1.1.1.1', port)))
probe('sendmsg', lambda: datagram().sendmsg([b'x'], [], 0, ('127.0.0.1', port)))
probe('sendmmsg', sendmmsg)
probe('fast open', lambda: socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', port)))
probe('fast open by option', route(socket.AF_INET, socket.IPPROTO_TCP, 30, 1))
probe('source route', route(socket.AF_INET, socket.IPPROTO_IP, 4, bytes([0x83, 7, 4, 127, 0, 0, 1, 0])))
probe('segment route', route(socket.AF_INET6, socket.IPPROTO_IPV6, 57, bytes(24)))
probe('flow label', route(socket.AF_INET6, socket.IPPROTO_IPV6, 32, bytes(32)))
probe('another device', route(socket.AF_INET, socket.SOL_SOCKET, 25, b'lo\0'))
probe('another device by its number', route(socket.AF_INET, socket.SOL_SOCKET, 62, 1))
probe('a close that waits', route(socket.AF_INET, socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 3600)))
probe('bind', lambda: socket.socket().bind(('127.0.0.1', 0)))
probe('bind udp', lambda: datagram().bind(('0.0.0.0', 0)))
probe('listen', lambda: socket.socket().listen())
probe('unix', lambda: socket.socket(socket.AF_UNIX))
probe('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
probe('ping', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
probe('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))

# The address changes all the time while the calls are made: what was judged must be what is done.
good = struct.pack('=H', socket.AF_INET) + struct.pack('!H4s8x', 9, bytes([1, 1, 1, 1]))
bad = struct.pack('=H', socket.AF_INET) + struct.pack('!H4s8x', port, bytes([127, 0, 0, 1]))
shared, done = ctypes.create_string_buffer(good, 16), False


def swap():
    while not done:
        ctypes.memmove(shared, bad, 16)
        ctypes.memmove(shared, good, 16)


swapping = threading.Thread(target=swap)
sys.setswitchinterval(1e-6)
swapping.start()
outcomes = set()
# On a busy machine, 500 calls may all see the same address: go on until both were seen.
attempts = 0
while attempts < 500 or (outcomes != {True, False} and attempts < 50_000):
    attempts += 1
    with socket.socket() as one:
        one.setblocking(False)
        outcomes.add(libc.connect(one.fileno(), shared, 16) < 0 and ctypes.get_errno() in DENIED)
done = True
swapping.join()
# Otherwise nothing was swapped while it was looked at.
assert outcomes == {True, False}, outcomes
