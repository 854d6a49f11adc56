# Tries what is forbidden. Each line that is printed is a fault of the sandbox; the last one is "end".
# `true` and not `:`, because a shell ends when a redirection of `:` fails.
if read -r line < "$SKILL_ARG_SECRET"; then echo "a file outside of the skill can be read"; fi
if true > "$SKILL_ARG_SECRET"; then echo "a file outside of the skill can be written"; fi
if true > "$SKILL_ARG_SECRET.new"; then echo "a file outside of the skill can be made"; fi
if true > "$SKILL_DIR/new"; then echo "the skill can be written"; fi
if read -r line < "$SKILL_DIR/self-test.sh"; then :; else echo "the skill can't be read"; fi
if echo word > "$TMPDIR/new" && read -r line < "$TMPDIR/new"; then :; else echo "the scratch folder can't be used"; fi
case $SKILL_ARG_MEANS in
strict)
    # Its numbers of processes are its own, and so is its /proc: that says what the kernel thinks of this process.
    while read -r name value; do
        case "$name=$value" in
        Seccomp:=2 | NoNewPrivs:=1 | CapEff:=0000000000000000) ;;
        Seccomp:=* | NoNewPrivs:=* | CapEff:=*) echo "the process has $name $value" ;;
        esac
    done < /proc/self/status
    ;;
namespaces)
    if read -r line < "/proc/$SKILL_ARG_SERVER/cmdline"; then echo "the server's process can be seen"; fi
    ;;
plain)
    if read -r line < "/proc/$SKILL_ARG_SERVER/cmdline"; then echo "the server's process can be seen"; fi
    if kill -0 "$SKILL_ARG_SERVER"; then echo "the server can be sent signals"; fi
    ;;
esac
echo end
