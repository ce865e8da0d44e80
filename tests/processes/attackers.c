/* Escape artists who turn on their keepers: they forge, blind, hold, trace, starve and kill them.
 *
 *     attackers NAME CANARY
 *
 * The parent is the warden; its parent, where that can be seen, the zygote; or, in a namespace, the
 * warden is process 1 and nobody above it can be named. What is refused to this user is refused,
 * and the artist stays: the question is only who lives when the stop is over.
 */
#include "artists.h"

#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define A_FEW 8
#define DESCRIPTORS 64

static pid_t warden, zygote;

static pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[got] = 0;
    if (file)
        fclose(file);
    char *after = strrchr(text, ')');
    int parent = 0;
    return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static void find_keepers(void) {
    warden = getppid();
    zygote = warden > 1 ? parent_of(warden) : 0;
}

/* In place, with some of the usual company, and the attack goes on in a child. */
static void while_attacked(void (*attack)(void)) {
    find_keepers();
    ignore_politeness();
    for (int i = 0; i < 3; i++)
        if (forked() == 0) {
            pid_t middle = forked();
            if (middle == 0) {
                setsid();
                hold();
            }
            _exit(0);
        }
    if (forked() == 0) {
        setsid();
        attack();
        hold();
    }
    hold();
}

static void say(int channel, const char *body) {
    char frame[256];
    unsigned length = (unsigned)strlen(body);
    frame[0] = (char)(length >> 24);
    frame[1] = (char)(length >> 16);
    frame[2] = (char)(length >> 8);
    frame[3] = (char)length;
    frame[4] = 0;
    memcpy(frame + 5, body, length);
    send(channel, frame, 5 + length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void lies(int channel) {
    char lie[128];
    say(channel, "{\"stopped\": true, \"processes\": []}");
    for (int id = 1; id < 40; id++) {
        snprintf(lie, sizeof lie, "{\"gone\": %d, \"left\": []}", id);
        say(channel, lie);
    }
}

/* what no warden would say, in shape */
static void misshapen(int channel) {
    say(channel, "{\"started\": [1], \"pid\": {}}");
    say(channel, "{\"ended\": [1], \"code\": null}");
    say(channel, "{\"failed\": 1}");
    say(channel, "{\"found\": [[1], 2, null]}");
    say(channel, "{\"stopped\": true, \"processes\": [[1]]}");
    say(channel, "{\"stopped\": true, \"processes\": [[1, 0, \"sh\", \"kept\", 0]]}");
}

static void no_message(int channel) { say(channel, "[1, {"); }

static void hung_up(int channel) { shutdown(channel, SHUT_RDWR); }

/* Take every socket of a keeper, hold it, and tell its host whatever it would like to hear. */
static void speak_for(pid_t keeper, void (*tell)(int)) {
    int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
    for (int fd = 0; pidfd >= 0 && fd < DESCRIPTORS; fd++) {
        int taken = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
        struct stat what;
        if (taken < 0 || fstat(taken, &what) || !S_ISSOCK(what.st_mode))
            continue;
        kill(keeper, SIGSTOP);
        tell(taken);
    }
}

static void forge_warden(void) { speak_for(warden, lies); }
static void forge_and_kill_warden(void) {
    speak_for(warden, lies);
    kill(warden, SIGKILL);
}

static void trace(pid_t keeper);
static void misshape_warden(void) {
    speak_for(warden, misshapen);
    trace(warden);
}
static void garble_warden(void) {
    speak_for(warden, no_message);
    trace(warden);
}
static void hang_up_for_warden(void) {
    speak_for(warden, hung_up);
    trace(warden);
}

static void hold_again(pid_t one, pid_t other) {
    ready();
    while (seconds_left() > 0) {
        if (one > 1)
            kill(one, SIGSTOP);
        if (other > 1)
            kill(other, SIGSTOP);
    }
    _exit(0);
}

static void stop_warden(void) { kill(warden, SIGSTOP); }
static void stop_zygote(void) {
    if (zygote > 1)
        kill(zygote, SIGSTOP);
}
static void stop_both(void) {
    stop_zygote();
    stop_warden();
}
static void bully_warden(void) { hold_again(warden, 0); }
static void bully_zygote(void) { hold_again(zygote, 0); }
static void kill_warden(void) {
    if (warden > 1)
        kill(warden, SIGKILL);
}
static void kill_zygote(void) {
    if (zygote > 1)
        kill(zygote, SIGKILL);
}
static void stop_zygote_kill_warden(void) {
    stop_zygote();
    kill_warden();
}

static void trace(pid_t keeper) {
    if (keeper > 0 && ptrace(PTRACE_ATTACH, keeper, 0, 0) == 0)
        waitpid(keeper, NULL, __WALL);
}
static void trace_warden(void) { trace(warden); }
static void trace_zygote(void) { trace(zygote); }
static void trace_and_kill_warden(void) {
    trace(warden);
    kill_warden();
}

static void limit(pid_t keeper, int what, rlim_t most) {
    struct rlimit none = {most, most};
    if (keeper > 0)
        prlimit(keeper, what, &none, NULL);
}
static void blind_warden(void) { limit(warden, RLIMIT_NOFILE, 0); }
static void blind_zygote(void) {
    limit(zygote, RLIMIT_NOFILE, 0);
    kill_warden();
}
static void no_time_for_warden(void) { limit(warden, RLIMIT_CPU, 0); }
static void no_time_for_zygote(void) { limit(zygote, RLIMIT_CPU, 0); }
static void no_memory_for_warden(void) { limit(warden, RLIMIT_AS, 1); }
static void no_forks_for_zygote(void) { limit(zygote, RLIMIT_NPROC, 0); }

/* The keepers come last, and there is much to do. */
static void starve(void) {
    struct sched_param none = {0};
    for (pid_t keeper = warden;; keeper = zygote) {
        setpriority(PRIO_PROCESS, (id_t)keeper, 19);
        sched_setscheduler(keeper, SCHED_IDLE, &none);
        if (keeper == zygote || zygote <= 1)
            break;
    }
    for (int i = 0; i < A_FEW; i++)
        if (forked() == 0)
            while (seconds_left() > 0)
                continue;
}

/* Another thread goes on when the first has ended: the process is a zombie, and lives. */
static void *second_thread(void *unused) {
    ready();
    for (;;)
        pause();
    return unused;
}
static void leaderless(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, second_thread, NULL))
        _exit(1);
    pthread_detach(thread);
    syscall(SYS_exit, 0);
}
static void zombie_leader(void) { leaderless(); }
static void zombie_leader_detached(void) { twice_forked(leaderless); }

/* A child that is its parent's sibling. */
static void sibling(void) {
    ignore_politeness();
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0) == 0) {
        mortal();
        hold_in_new_session();
    }
    hold();
}

/* A namespace of one's own, whose first process cannot be asked from inside. */
static void own_namespace(void) {
    if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
        nap(); /* it is not permitted, and so this is just another child */
    ignore_politeness();
    with_child(hold_in_new_session);
}
static void own_namespace_detached(void) { twice_forked(own_namespace); }

/* A name that reads like the end of a process in /proc. */
static void liar(void) {
    prctl(PR_SET_NAME, ") Z 0 0 0 0 (");
    with_child(hold_in_new_session);
}

/* Two who trace each other's children, stopped in the middle of everything. */
static void traced(void) {
    pid_t child = forked();
    if (child == 0) {
        setsid();
        rest();
    }
    trace(child);
    ready(); /* for the child, which no longer can */
    hold();
}

/* A parent that waits for a child which borrows its memory, and never leaves. */
static void borrowed(void) {
    if (vfork() == 0) {
        char dot = '.';
        if (write(canary, &dot, 1) == 1 && write(canary, &dot, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    _exit(0);
}

/* A control group of one's own, below the one that it was put in. */
static void own_group(void) {
    char line[PATH_MAX + 8] = "", place[2 * PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        continue;
    line[strcspn(line, "\n")] = 0;
    static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup", NULL};
    for (const char *const *root = roots; *root; root++) {
        snprintf(place, sizeof place, "%s%s/below", *root, line + 3);
        if (!strstr(line, "/lastword-")) /* it was put in none */
            break;
        if (mkdir(place, 0755))
            continue;
        strncat(place, "/cgroup.procs", sizeof place - strlen(place) - 1);
        int procs = open(place, O_WRONLY | O_CLOEXEC);
        if (procs >= 0)
            dprintf(procs, "0");
        break;
    }
    with_child(hold_in_new_session);
}

#define ATTACK(name) \
    static void at_##name(void) { while_attacked(name); }
ATTACK(forge_warden)
ATTACK(forge_and_kill_warden)
ATTACK(misshape_warden)
ATTACK(garble_warden)
ATTACK(hang_up_for_warden)
ATTACK(stop_warden)
ATTACK(stop_zygote)
ATTACK(stop_both)
ATTACK(bully_warden)
ATTACK(bully_zygote)
ATTACK(kill_warden)
ATTACK(kill_zygote)
ATTACK(stop_zygote_kill_warden)
ATTACK(trace_warden)
ATTACK(trace_zygote)
ATTACK(trace_and_kill_warden)
ATTACK(blind_warden)
ATTACK(blind_zygote)
ATTACK(no_time_for_warden)
ATTACK(no_time_for_zygote)
ATTACK(no_memory_for_warden)
ATTACK(no_forks_for_zygote)
ATTACK(starve)

static const artist artists[] = {
    {"forge_warden", at_forge_warden},
    {"forge_and_kill_warden", at_forge_and_kill_warden},
    {"misshape_warden", at_misshape_warden},
    {"garble_warden", at_garble_warden},
    {"hang_up_for_warden", at_hang_up_for_warden},
    {"stop_warden", at_stop_warden},
    {"stop_zygote", at_stop_zygote},
    {"stop_both", at_stop_both},
    {"bully_warden", at_bully_warden},
    {"bully_zygote", at_bully_zygote},
    {"kill_warden", at_kill_warden},
    {"kill_zygote", at_kill_zygote},
    {"stop_zygote_kill_warden", at_stop_zygote_kill_warden},
    {"trace_warden", at_trace_warden},
    {"trace_zygote", at_trace_zygote},
    {"trace_and_kill_warden", at_trace_and_kill_warden},
    {"blind_warden", at_blind_warden},
    {"blind_zygote", at_blind_zygote},
    {"no_time_for_warden", at_no_time_for_warden},
    {"no_time_for_zygote", at_no_time_for_zygote},
    {"no_memory_for_warden", at_no_memory_for_warden},
    {"no_forks_for_zygote", at_no_forks_for_zygote},
    {"starve", at_starve},
    {"zombie_leader", zombie_leader},
    {"zombie_leader_detached", zombie_leader_detached},
    {"sibling", sibling},
    {"own_namespace", own_namespace},
    {"own_namespace_detached", own_namespace_detached},
    {"liar", liar},
    {"traced", traced},
    {"borrowed", borrowed},
    {"own_group", own_group},
};

int main(int argc, char **argv) {
    return on_stage(argc, argv, artists, sizeof artists / sizeof *artists);
}
