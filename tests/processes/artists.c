/* The escape artists: twenty ways in which processes get out of sight of whoever started them.
 *
 *     artists NAME CANARY
 *
 * CANARY is a FIFO. Every process of the artist holds its write end, across forks and execs, so
 * the reader sees the end of the file when the last of them is dead, and not before: a proof that
 * needs no list of processes, and that no reused pid can fool. A process that has taken up its
 * final position writes one byte.
 *
 * None lives for longer than LIFETIME seconds, whatever becomes of the test that started it.
 *
 * An artist may also run this program again, as `artists MODE FD [PARENT]`: see on_stage().
 */
#include "artists.h"

/* a parent and a child */
static void plain(void) { with_child(hold); }

/* both ignore TERM, INT and HUP */
static void termignore(void) {
    ignore_politeness();
    with_child(hold);
}

/* the child is in a session of its own */
static void new_session(void) { with_child(hold_in_new_session); }

/* a double fork; the parent stays */
static void daemon_(void) { twice_forked(hold); }

static void detached_hold(void) { detached(hold); }

/* a double fork; the parent leaves */
static void daemon_gone(void) { without_parent(detached_hold); }

/* a shell's nohup in the background; the shell stays */
static void nohup(void) {
    shell("nohup \"$1\" hold 9 </dev/null >/dev/null 2>&1 & printf . >&9; wait");
}

/* a shell's nohup in the background; the shell leaves */
static void nohup_gone(void) { shell("nohup \"$1\" orphan 9 $$ </dev/null >/dev/null 2>&1 &"); }

/* four lanes whose pid changes every millisecond */
static void comet(void) {
    lanes(0);
    hold();
}

/* the same, and every hop lands in a new session */
static void comet_sid(void) {
    lanes(1);
    hold();
}

static void head(int depth, int first) {
    pid_t below[2] = {0, 0};
    while (seconds_left() > 0) {
        for (int i = 0; depth > 0 && i < 2; i++) {
            if (below[i] <= 0 && (below[i] = forked()) == 0) {
                head(depth - 1, first);
                _exit(0);
            }
        }
        if (first)
            ready();
        if (depth == 0)
            rest();
        first = 0;
        pid_t dead = wait(NULL);
        for (int i = 0; i < 2; i++)
            if (below[i] == dead)
                below[i] = 0;
        nap();
    }
}

/* a tree of thirty-one, each of which grows again what is cut off below it */
static void hydra(void) {
    head(DEPTH, 1);
    _exit(0);
}

/* An alarm cannot end a stopped process, so the kernel holds a SIGKILL ready for it. */
static void halt(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value.tv_sec = LIFETIME};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        _exit(1);
    raise(SIGSTOP);
    rest();
}

static void halt_with_child(int new_session) {
    pid_t child = forked();
    if (child == 0) {
        if (new_session)
            setsid();
        halt();
    }
    waitpid(child, NULL, WUNTRACED);
    ready(); /* for the child, which no longer can */
    ready();
    halt();
}

/* a stopped parent with a stopped child */
static void stopped(void) { halt_with_child(0); }

/* the same; the child is in a new session, and both ignore TERM */
static void stopped_sid(void) {
    ignore_politeness();
    halt_with_child(1);
}

/* the child is in a new session and has an empty environment */
static void envclear(void) { with_child(hold_reborn); }

static void detached_hold_reborn(void) { detached(hold_reborn); }

/* the same after a double fork; the parent leaves */
static void envclear_gone(void) { without_parent(detached_hold_reborn); }

/* the child keeps stdout when the parent has left */
static void stdouthold(void) { without_parent(hold); }

/* a terminal, with an interactive shell and three jobs on it */
static void pty(void) {
    int master;
    char heard[4096];
    if (forkpty(&master, NULL, NULL, NULL) == 0) {
        mortal();
        setenv("HISTFILE", "", 1); /* or it would write to its user's history */
        unsetenv("ENV");
        execlp("bash", "bash", "--norc", "--noprofile", "--noediting", "-i", (char *)NULL);
        execlp("sh", "sh", "-i", (char *)NULL);
        _exit(127);
    }
    dprintf(master, "'%s' hold 9 &\n", self);
    dprintf(master, "nohup '%s' hold 9 </dev/null >/dev/null 2>&1 &\n", self);
    dprintf(master, "setsid '%s' hold 9 </dev/null >/dev/null 2>&1 &\n", self);
    dprintf(master, "printf . >&9\n");
    ready();
    while (read(master, heard, sizeof heard) > 0)
        continue;
    rest();
}

/* three dead children whom nobody reaps */
static void zombie(void) {
    siginfo_t info;
    for (int i = 0; i < 3; i++) {
        pid_t child = forked();
        if (child == 0)
            _exit(0);
        waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    }
    ready();
    for (;;)
        pause();
}

static void adopt(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setsid();
    if (forked() == 0)
        without_parent(hold);
    wait(NULL);
    hold();
}

/* the child adopts orphans itself, and has one */
static void subreaper(void) { with_child(adopt); }

static void vanish(void) {
    ignore_politeness();
    reborn("lanes");
}

/* a double fork, then an empty environment, TERM ignored, and comets in new sessions */
static void houdini(void) { twice_forked(vanish); }

static void leave_cgroups(void) {
    char line[2 * PATH_MAX], place[PATH_MAX], file[PATH_MAX + 16];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts && fgets(line, sizeof line, mounts)) {
        const char *type = strstr(line, " - cgroup");
        if (!type || sscanf(line, "%*s %*s %*s %*s %4095s", place) != 1)
            continue;
        /* of the old hierarchies, those by which one could stop or count processes */
        if (!strstr(type, "cgroup2") && !strstr(type, "freezer") && !strstr(type, "pids"))
            continue;
        snprintf(file, sizeof file, "%s/cgroup.procs", place);
        int procs = open(file, O_WRONLY | O_CLOEXEC); /* an ordinary user may not, and stays */
        if (procs >= 0)
            dprintf(procs, "0");
    }
    hold_in_new_session();
}

/* the child moves to the root of the cgroups, and to a new session */
static void cgescape(void) { with_child(leave_cgroups); }

/* a program that is another user's: whoever started it may not end it */
static void another_user(void) {
    if (setresuid(geteuid(), geteuid(), geteuid()))
        _exit(1);
    ignore_politeness();
    hold();
}

/* the same with a family: one that is ours again, a child, one in a new session with a child */
static void another_users_family(void) {
    uid_t ours = getuid(), theirs = geteuid();
    if (forked() == 0) {
        if (setresuid(ours, ours, ours))
            _exit(1);
        hold();
    }
    if (setresuid(theirs, theirs, theirs))
        _exit(1);
    ignore_politeness();
    if (forked() == 0)
        hold();
    if (forked() == 0) {
        setsid();
        with_child(hold);
    }
    hold();
}

static const artist artists[] = {
    {"plain", plain}, {"termignore", termignore}, {"setsid", new_session}, {"daemon", daemon_},
    {"daemon_gone", daemon_gone}, {"nohup", nohup}, {"nohup_gone", nohup_gone}, {"comet", comet},
    {"comet_sid", comet_sid}, {"hydra", hydra}, {"stopped", stopped}, {"stopped_sid", stopped_sid},
    {"envclear", envclear}, {"envclear_gone", envclear_gone}, {"stdouthold", stdouthold},
    {"pty", pty}, {"zombie", zombie}, {"subreaper", subreaper}, {"houdini", houdini},
    {"cgescape", cgescape}, {"another_user", another_user},
    {"another_users_family", another_users_family},
};

int main(int argc, char **argv) {
    return on_stage(argc, argv, artists, sizeof artists / sizeof *artists);
}
