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
 * An artist may also run this program again, as `artists MODE FD [PARENT]`: see main().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef LIFETIME
#define LIFETIME 50
#endif
#define CANARY "9" /* a descriptor that shells leave alone */
#define LANES 4    /* of a comet */
#define DEPTH 4    /* of the hydra: 1 + 2 + 4 + 8 + 16 heads */

static const int canary = 9;
static time_t deadline;
static char self[PATH_MAX];

static int seconds_left(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)(deadline - now.tv_sec);
}

/* An alarm outlives an exec but not a fork, so each new process sets its own. */
static void mortal(void) { alarm(seconds_left() > 0 ? (unsigned)seconds_left() : 1); }

static pid_t forked(void) {
    pid_t child = fork();
    if (child == 0)
        mortal();
    return child;
}

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void ready(void) {
    if (write(canary, ".", 1) != 1)
        _exit(1);
}

/* Stay, and reap whoever dies, until somebody ends us. */
static void rest(void) {
    for (;;)
        if (wait(NULL) < 0)
            pause();
}

static void hold(void) {
    ready();
    rest();
}

static void hold_in_new_session(void) {
    setsid();
    hold();
}

/* Wait until `parent` is our parent no more. */
static void outlive(pid_t parent) {
    while (getppid() == parent)
        nap();
}

static void ignore_politeness(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* Let go of the standard streams, as a daemon does. */
static void quiet(void) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
}

static void shell(const char *script) {
    execl("/bin/sh", "sh", "-c", script, "sh", self, (char *)NULL);
    _exit(127);
}

/* Run this program again, in the given mode, with nothing in its environment. */
static void reborn(const char *mode) {
    execle(self, "artists", mode, CANARY, (char *)NULL, (char *[]){NULL});
    _exit(127);
}

static void hold_reborn(void) {
    quiet();
    setsid();
    reborn("hold");
}

/* Fork a child that does this, and stay. */
static void with_child(void (*act)(void)) {
    if (forked() == 0)
        act();
    hold();
}

/* Do this as an orphan: the parent leaves first. */
static void without_parent(void (*act)(void)) {
    pid_t parent = getpid();
    if (forked() != 0)
        _exit(0);
    outlive(parent);
    act();
}

/* Do this as a daemon: the second of two forks. */
static void detached(void (*act)(void)) {
    quiet();
    setsid();
    without_parent(act);
}

/* Both forks; the parent stays. */
static void twice_forked(void (*act)(void)) {
    pid_t middle = forked();
    if (middle == 0)
        detached(act);
    waitpid(middle, NULL, 0);
    hold();
}

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

/* Fork a successor and exit, again and again: no pid is the one that was just seen. */
static void lanes(int new_sessions) {
    for (int i = 0; i < LANES; i++) {
        if (forked() != 0)
            continue;
        for (ready(); seconds_left() > 0; nap()) {
            if (new_sessions)
                setsid();
            if (forked() > 0)
                break;
        }
        _exit(0);
    }
}

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

static const struct {
    const char *name;
    void (*perform)(void);
} artists[] = {
    {"plain", plain}, {"termignore", termignore}, {"setsid", new_session}, {"daemon", daemon_},
    {"daemon_gone", daemon_gone}, {"nohup", nohup}, {"nohup_gone", nohup_gone}, {"comet", comet},
    {"comet_sid", comet_sid}, {"hydra", hydra}, {"stopped", stopped}, {"stopped_sid", stopped_sid},
    {"envclear", envclear}, {"envclear_gone", envclear_gone}, {"stdouthold", stdouthold},
    {"pty", pty}, {"zombie", zombie}, {"subreaper", subreaper}, {"houdini", houdini},
    {"cgescape", cgescape},
};

/* Whoever was started by an artist has the rest of its alarm; the artist itself a whole one. */
static void begin(void) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    unsigned left = alarm(0);
    deadline += (left ? (time_t)left : LIFETIME) - seconds_left();
    mortal();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        _exit(1);
}

int main(int argc, char **argv) {
    const char *name = argc > 2 ? argv[1] : "";
    begin();
    if (strcmp(name, "orphan") == 0 && argc > 3)
        outlive((pid_t)atoi(argv[3]));
    if (strcmp(name, "hold") == 0 || strcmp(name, "orphan") == 0)
        hold();
    if (strcmp(name, "lanes") == 0) {
        lanes(1);
        _exit(0);
    }
    for (size_t i = 0; i < sizeof artists / sizeof *artists; i++) {
        if (strcmp(artists[i].name, name) != 0)
            continue;
        int fifo = open(argv[2], O_WRONLY);
        if (fifo < 0 || dup2(fifo, canary) < 0)
            break;
        artists[i].perform();
    }
    perror("usage: artists NAME CANARY");
    return 2;
}
