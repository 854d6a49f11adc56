"""Tries what a script must not do, one thing after the other, and says of each how it went.

Every probe is harmless where it works. What it needs comes as arguments: SKILL_ARG_SERVER is the server's process,
SKILL_ARG_OUTSIDE a folder that every user may read and write, SKILL_ARG_PORT and SKILL_ARG_UDP are ports that someone
listens on, SKILL_ARG_ABSTRACT is the name of abstract sockets.
"""
import ctypes, errno, glob, json, mmap, os, resource, signal, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
server = int(os.environ["SKILL_ARG_SERVER"])
outside = os.environ["SKILL_ARG_OUTSIDE"]
skill = os.environ["SKILL_DIR"]
scratch = os.environ["TMPDIR"]
abstract = os.environ["SKILL_ARG_ABSTRACT"]
NEWUSER = 0x10000000
results = {}


def call(number, *args):
    """A system call by its number."""
    words = [arg if isinstance(arg, (bytes, ctypes.Array, ctypes.Structure)) else ctypes.c_long(arg) for arg in args]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def probe(function):
    try:
        result = function()
        results[function.__name__] = "ALLOWED" if result is None else f"ALLOWED {result}"
    except (OSError, MemoryError, ValueError) as error:
        number = getattr(error, "errno", None)
        name = errno.errorcode.get(number, str(error)) if number else type(error).__name__
        results[function.__name__] = f"DENIED {name}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


# Files.

@probe
def read_a_file_outside():
    read(f"{outside}/secret")

@probe
def list_a_folder_outside():
    os.listdir(outside)

@probe
def read_the_list_of_users():
    read("/etc/passwd")

@probe
def execute_a_file_outside():
    os.posix_spawn(f"{outside}/program", ["program"], {})

@probe
def write_a_file_outside():
    open(f"{outside}/secret", "ab").close()

@probe
def make_a_file_outside():
    open(f"{outside}/new", "xb").close()
    os.unlink(f"{outside}/new")

@probe
def link_a_file_outside():
    os.link(f"{outside}/secret", f"{outside}/linked")
    os.unlink(f"{outside}/linked")

@probe
def rename_a_file_outside():
    os.rename(f"{outside}/secret", f"{outside}/renamed")
    os.rename(f"{outside}/renamed", f"{outside}/secret")

@probe
def shorten_a_file_outside():
    os.truncate(f"{outside}/long", 1)

@probe
def change_the_mode_of_a_file_outside():
    os.chmod(f"{outside}/own", 0o666)

@probe
def change_the_times_of_a_file_outside():
    os.utime(f"{outside}/own", (1, 1))

@probe
def change_the_owner_of_a_file_outside():
    os.chown(f"{outside}/own", os.getuid(), os.getgid())

@probe
def set_an_attribute_of_a_file_outside():
    os.setxattr(f"{outside}/own", "user.probe", b"x")

@probe
def make_a_file_in_the_skill():
    open(f"{skill}/new", "xb").close()

@probe
def write_the_script_itself():
    open(__file__, "ab").close()

@probe
def change_the_mode_of_the_skill():
    os.chmod(skill, 0o777)

@probe
def use_an_inherited_file():
    # The test opens file 9 for the server before it starts it.
    os.read(9, 1)

# Other processes.

@probe
def read_the_servers_environment():
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if b"LYCEUM_SECRET_OF_THE_TEST" in read(path):
                return
        except OSError:
            pass
    raise OSError(errno.ENOENT, "none")

@probe
def read_the_servers_command_line():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if b"sandbox-driver\0run" in read(path):
                return
        except OSError:
            pass
    raise OSError(errno.ENOENT, "none")

@probe
def signal_the_server():
    os.kill(server, 0)

@probe
def signal_a_thread_of_the_server():
    call(234, server, server, 0)

@probe
def signal_the_server_by_descriptor():
    signal.pidfd_send_signal(os.pidfd_open(server), 0)

@probe
def trace_the_server():
    # PTRACE_SEIZE does not stop it, and ends with us.
    if libc.ptrace(ctypes.c_long(0x4206), ctypes.c_long(server), None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    # Detaching needs a stop, so that the server is left to the end of this process.

@probe
def read_the_servers_memory():
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(8)
    local = Vector(ctypes.addressof(buffer), 8)
    remote = Vector(0x1000, 8)
    if libc.process_vm_readv(server, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) < 0:
        if ctypes.get_errno() != errno.EFAULT:
            raise OSError(ctypes.get_errno(), "process_vm_readv")

@probe
def change_a_limit_of_the_server():
    resource.prlimit(server, resource.RLIMIT_CORE, (0, 0))

@probe
def change_the_priority_of_the_server():
    os.setpriority(os.PRIO_PROCESS, server, 0)

@probe
def change_the_priority_of_the_user():
    os.setpriority(os.PRIO_USER, 0, 0)

@probe
def bind_the_server_to_a_processor():
    os.sched_setaffinity(server, os.sched_getaffinity(0))

@probe
def aim_a_files_signal_at_the_server():
    # It is not sent: no data comes.
    import fcntl
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, server)

# The network.

@probe
def connect_by_tcp():
    socket.create_connection(("127.0.0.1", int(os.environ["SKILL_ARG_PORT"])), 2).close()

@probe
def send_by_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("127.0.0.1", int(os.environ["SKILL_ARG_UDP"])))

@probe
def listen_on_tcp():
    with socket.socket() as tcp:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()

@probe
def connect_to_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect("\0" + abstract)

@probe
def connect_to_a_socket_file():
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect(f"{outside}/socket")

@probe
def send_to_a_socket_file_from_a_pair():
    # Datagram sockets of a pair can still send to others.
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", f"{outside}/datagrams")

@probe
def send_to_a_socket_file_from_a_raw_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    one.sendto(b"x", f"{outside}/datagrams")

@probe
def send_to_an_abstract_socket_from_a_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", "\0" + abstract + "-datagrams")

@probe
def ask_the_kernel_by_netlink():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()

# The kernel.

def in_a_child(function):
    """Runs it in a process of its own, and raises what it raised there."""
    pid = os.fork()
    if pid == 0:
        try:
            function()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        raise OSError(code, "in a child")

@probe
def make_a_user_namespace():
    in_a_child(lambda: call(272, NEWUSER))

@probe
def clone_into_a_user_namespace():
    pid = call(56, NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

@probe
def clone_into_a_user_namespace_the_new_way():
    arguments = struct.pack("8Q", NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call(435, ctypes.create_string_buffer(arguments, 64), 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

@probe
def make_an_io_ring():
    os.close(call(425, 4, ctypes.create_string_buffer(120)))

@probe
def use_memory_without_a_file():
    os.close(os.memfd_create("x"))

@probe
def share_memory_with_others():
    libc.shmctl(call(29, 0, 4096, 0o600), 0, None)

@probe
def use_the_keyring():
    call(250, 0, -3, 1)

@probe
def handle_page_faults():
    os.close(call(323, 1))

@probe
def name_a_file_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, scratch.encode(), handle, ctypes.byref(mount), 0) != 0:
        raise OSError(ctypes.get_errno(), "name_to_handle_at")

@probe
def change_the_personality():
    if libc.personality(ctypes.c_ulong(0x0040000)) < 0:
        raise OSError(ctypes.get_errno(), "personality")

# What may be used up.

@probe
def take_two_gigabytes():
    mmap.mmap(-1, 2 << 30).close()

@probe
def write_a_large_file():
    with open(f"{scratch}/large", "wb") as file:
        file.truncate(32 << 20)
    os.unlink(f"{scratch}/large")

@probe
def open_many_files():
    files = [open("/dev/null") for _ in range(200)]

@probe
def start_many_processes():
    pids = []
    try:
        for _ in range(150):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            pids.append(pid)
    finally:
        results["processes"] = len(pids)
        # Not by os.kill, which may be denied itself.
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                break

# What must work.

def works(name, function):
    try:
        results[name] = "works" if function() else "does not work"
    except OSError as error:
        results[name] = f"does not work: {error}"

def in_scratch():
    os.mkdir(f"{scratch}/folder")
    with open(f"{scratch}/folder/file", "w") as file:
        file.write("text")
    # In the same folder: the first kernel with Landlock knows no right to move a file to another.
    os.rename(f"{scratch}/folder/file", f"{scratch}/folder/renamed")
    return read(f"{scratch}/folder/renamed") == b"text"

def by_a_pair():
    one, other = socket.socketpair()
    one.send(b"x")
    return other.recv(1) == b"x"

works("write in scratch", in_scratch)
works("a connected pair", by_a_pair)
works("random numbers", lambda: len(read("/dev/null")) == 0 and len(os.urandom(4)) == 4)
works("read the skill", lambda: len(read(__file__)) > 0)
print(json.dumps(results))
