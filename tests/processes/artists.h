/* What escape artists have in common: a canary, an alarm, and ways to be somebody else's child. */
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

typedef struct {
    const char *name;
    void (*perform)(void);
} artist;

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

/* Whoever is called by its name performs, holding the canary. */
static int on_stage(int argc, char **argv, const artist *artists, size_t count) {
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
    for (size_t i = 0; i < count; i++) {
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
