# Runs a program that lives no longer than whoever started this: hold.sh FOLDER PROGRAM ARGUMENT...
#
# Says the program's process id, then holds on to standard input. When that closes, because its other end was dropped or
# the process at that end was killed, the program is killed, and FOLDER is removed (none: empty). If the program ends by
# itself, so does this, with the same status, and FOLDER stays for whoever wants to know why.
folder=$1
shift
exec 3<&0
"$@" </dev/null >&2 3<&- &
program=$!
echo "$program"
exec >&-
# `read` is a builtin: killing this subshell leaves no process behind.
{ read -r -u 3 _; kill -KILL "$program"; } 2>/dev/null &
watch=$!
wait "$program"
status=$?
kill "$watch" 2>/dev/null
# 137: killed.
[ -z "$folder" ] || [ "$status" -ne 137 ] || rm -rf "$folder"
exit "$status"
