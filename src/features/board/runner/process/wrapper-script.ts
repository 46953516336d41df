/**
 * Runs between us and an agent's command, and outlives us. A later process reads in the run's folder which
 * process it is (`process`) and how the command ended (`exit`). It ends everything by itself when the time is
 * over, even if no other process comes.
 *
 * Arguments: the run's folder, its mark, its time in seconds, the grace in seconds, the reason to record when
 * the time is over, and the command.
 *
 * - Its own variables begin with `_cox_`: any other name could be part of the command's environment, and
 *   would change it.
 * - The command runs in the foreground: a shell makes background processes, and all their children, ignore
 *   Ctrl-C.
 * - Wrapper and watchdog ignore the signals that end the command, even a `kill 0` of its own. Ignored signals
 *   are inherited, so this is undone for the command.
 * - `ln` fails if the name is taken: so only one wrapper runs, and the first recorded end stays.
 * - A limit of 2 GB per file stops a command that floods its output while no process watches.
 */
export const WRAPPER = String.raw`
trap '' HUP INT QUIT TERM
_cox_run=$1 _cox_mark=$2 _cox_limit=$3 _cox_grace=$4 _cox_late=$5 _cox_path=$PATH
shift 5
PATH=/usr/bin:/bin:$PATH

_cox_once() {
  printf '%s\n' "$2" >"$_cox_run/$1.$3" && ln "$_cox_run/$1.$3" "$_cox_run/$1"
  _cox_done=$?
  rm -f "$_cox_run/$1.$3"
  return $_cox_done
}

_cox_end_marked() {
  for _cox_pid in $(grep -lazxF "COX_RUN=$_cox_mark" /proc/[0-9]*/environ); do
    _cox_pid=${'$'}{_cox_pid#/proc/}
    _cox_pid=${'$'}{_cox_pid%/environ}
    case $_cox_pid in $$ | "$1") ;; *) kill -KILL "$_cox_pid" ;; esac
  done
}

_cox_boot= _cox_stat=
if [ -r /proc/$$/stat ]; then
  read -r _cox_boot </proc/sys/kernel/random/boot_id
  read -r _cox_stat </proc/$$/stat
fi
_cox_once process "$$
$_cox_boot
${'$'}{_cox_stat:-$(ps -o lstart= -p $$)}" $$ || exit 75

renice -n 10 -p $$ >/dev/null
ulimit -c 0
ulimit -f 4194304

{
  _cox_self=$(exec sh -c 'echo $PPID')
  sleep "$_cox_limit"
  _cox_once ended "$_cox_late" watch
  kill -TERM 0
  sleep "$_cox_grace"
  _cox_once exit killed watch
  _cox_end_marked "$_cox_self"
  kill -KILL 0
} &
_cox_watch=$!

(
  trap - HUP INT QUIT TERM
  PATH=$_cox_path
  exec "$@"
) <"$_cox_run/input.json" >"$_cox_run/stdout" 2>"$_cox_run/stderr"
_cox_code=$?

kill -KILL $_cox_watch
_cox_end_marked $_cox_watch
_cox_once exit $_cox_code $$
kill -KILL 0
`;

/** Another wrapper already has this run, or the run was given up. */
export const REFUSED_CODE = 75;
