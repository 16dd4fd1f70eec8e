/* Times two programs in turn, so that whatever slows the machine slows both. It is tiny,
 * because a child's peak memory is never less than that of the program that started it.
 *
 *     timer PAIRS A_STDIN A… -- B_STDIN B…
 *
 * Prints a line for each pair: nanoseconds of A, of B, peak KiB of A, of B, page faults of A and
 * its children. Ends with 1 as soon as a program does not exit with 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

struct cost {
    long long nanoseconds;
    long peak_kib;
    long faults;
};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* command[0] is the file that becomes stdin, the rest is the program and its arguments. */
static struct cost run(char **command) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, command[0], O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int status = 0;
    struct rusage used;
    long long started = now();
    int error = posix_spawn(&pid, command[1], &actions, NULL, command + 1, environ);
    while (error == 0 && wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    struct cost cost = {now() - started, used.ru_maxrss, used.ru_minflt};
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0 || status != 0) {
        fprintf(stderr, "`%s` %s (wait status %d)\n", command[1],
                error ? strerror(error) : "did not exit with 0", status);
        exit(1);
    }
    return cost;
}

int main(int count, char **words) {
    char **b = words;
    while (*b != NULL && strcmp(*b, "--") != 0)
        b++;
    if (b - words < 4 || words + count - b < 3) {
        fprintf(stderr, "usage: timer PAIRS A_STDIN A... -- B_STDIN B...\n");
        return 64;
    }
    *b++ = NULL;
    char **a = words + 2;
    for (int warm = 0; warm < 2; warm++) {
        run(a);
        run(b);
    }
    for (long left = strtol(words[1], NULL, 10); left > 0; left--) {
        struct cost of_a = run(a);
        struct cost of_b = run(b);
        printf("%lld %lld %ld %ld %ld\n", of_a.nanoseconds, of_b.nanoseconds, of_a.peak_kib,
               of_b.peak_kib, of_a.faults);
    }
    return 0;
}
