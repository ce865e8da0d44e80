/* A storm of forks, which ends by itself.
 *
 *     storm comets|bomb CANARY SECONDS MOST
 *
 * Every process holds the write end of the FIFO at CANARY, and none outlives SECONDS. `bomb`: each
 * process forks, and each of those does, without a pause; the first to be refused by the kernel
 * writes one byte. `comets`: many lanes in which each process forks a successor and exits at once;
 * one byte is written when there have been a thousand. Who has forked MOST times and was never
 * refused gives up: a test that fails must not take the machine.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LANES 8
#define MANY 1000

struct tally {
    atomic_long forks;
    atomic_int refused;
    atomic_flag told;
};

static struct tally *tally;
static int canary;
static long most;
static time_t deadline;

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static void tell(void) {
    if (!atomic_flag_test_and_set(&tally->told) && write(canary, ".", 1) != 1)
        _exit(1);
}

static pid_t forked(void) {
    if (now() >= deadline || (atomic_load(&tally->forks) >= most && !atomic_load(&tally->refused)))
        _exit(0);
    pid_t child = fork();
    if (child < 0)
        atomic_store(&tally->refused, 1);
    else if (child > 0)
        atomic_fetch_add(&tally->forks, 1);
    else
        alarm((unsigned)(deadline > now() ? deadline - now() : 1));
    return child;
}

static void bomb(void) {
    signal(SIGCHLD, SIG_IGN);
    for (;;)
        if (forked() < 0)
            tell();
}

static void fly(void) {
    for (;;) {
        pid_t successor = forked();
        if (successor > 0)
            _exit(0);
        if (atomic_load(&tally->forks) > MANY)
            tell();
    }
}

static void comets(void) {
    for (int lane = 0; lane < LANES; lane++)
        if (forked() == 0)
            fly();
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    canary = open(argv[2], O_WRONLY);
    deadline = now() + atoi(argv[3]);
    most = atol(argv[4]);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (canary < 0 || tally == MAP_FAILED)
        return 1;
    alarm((unsigned)atoi(argv[3]));
    if (strcmp(argv[1], "bomb") == 0)
        bomb();
    comets();
}
