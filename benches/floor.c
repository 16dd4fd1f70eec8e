/* The least that running hooks can cost: starts PROGRAM a number of times, one after another,
 * each with three pipes and in a group of its own; writes an event of BYTES bytes to its
 * stdin, reads stdout and stderr to their ends, and reaps it.
 *
 *     floor TIMES BYTES PROGRAM
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char output[64 * 1024];

static void must(int is_well, const char *what) {
    if (!is_well) {
        perror(what);
        exit(70);
    }
}

/* The three pipes: ours[] stay here, theirs[] become the program's 0, 1 and 2. */
static pid_t start(char *program, int ours[3]) {
    int theirs[3];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int stream = 0; stream < 3; stream++) {
        int ends[2];
        must(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
        ours[stream] = ends[stream == 0];
        theirs[stream] = ends[stream != 0];
        posix_spawn_file_actions_adddup2(&actions, theirs[stream], stream);
    }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);

    char *words[] = {program, NULL};
    pid_t pid;
    errno = posix_spawn(&pid, program, &actions, &attributes, words, environ);
    must(errno == 0, program);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    for (int stream = 0; stream < 3; stream++)
        close(theirs[stream]);
    return pid;
}

static int run(char *program, const char *event, size_t bytes) {
    int ours[3];
    pid_t pid = start(program, ours);
    fcntl(ours[0], F_SETFL, O_NONBLOCK);
    size_t written = 0;
    struct pollfd watched[3] = {
        {ours[0], POLLOUT, 0}, {ours[1], POLLIN, 0}, {ours[2], POLLIN, 0}};
    int open = 3;
    while (open > 0) {
        must(poll(watched, 3, -1) > 0 || errno == EINTR, "poll");
        for (int stream = 0; stream < 3; stream++) {
            if (watched[stream].fd < 0 || watched[stream].revents == 0)
                continue;
            int is_over;
            if (stream == 0) {
                ssize_t count = write(ours[0], event + written, bytes - written);
                written += count > 0 ? (size_t)count : 0;
                is_over = written == bytes || (count < 0 && errno != EAGAIN);
            } else {
                is_over = read(ours[stream], output, sizeof output) <= 0;
            }
            if (is_over) {
                close(ours[stream]);
                watched[stream].fd = -1;
                open--;
            }
        }
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        must(errno == EINTR, "waitpid");
    return status;
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: floor TIMES BYTES PROGRAM\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    size_t bytes = strtoul(words[2], NULL, 10);
    char *event = malloc(bytes + 1);
    must(event != NULL, "malloc");
    memset(event, ' ', bytes);
    for (long left = strtol(words[1], NULL, 10); left > 0; left--)
        if (run(words[3], event, bytes) != 0)
            return 1;
    return 0;
}
