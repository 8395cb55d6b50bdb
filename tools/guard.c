// SPDX-License-Identifier: MIT
#include "tools/guard.h"

#ifdef _WIN32

// Windows has no fork(), so that no reader is tried. A file that crashes its reader ends the program.
bool guard_try(guard_reader reader, void *out, const char *path, tool_fault *fault)
{
    (void)reader;
    (void)out;
    (void)path;
    (void)fault;
    return true;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// A limit of address space cannot be set under sanitizers: their shadow memory is larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/// First byte that the child writes when the reader returns. It is missing where the reader called
/// exit().
enum { IS_GOOD = '+', IS_BAD = '-' };

static void write_all(int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        const ssize_t written = write(descriptor, next, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return;
        }
        next += written;
        size -= (size_t)written;
    }
}

static size_t read_all(int descriptor, char *bytes, size_t size)
{
    size_t length = 0;

    while (length < size) {
        const ssize_t got = read(descriptor, bytes + length, size - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    return length;
}

static void silence(void)
{
    const int nowhere = open("/dev/null", O_RDWR);

    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
    }
}

static _Noreturn void run_child(int answer, guard_reader reader, void *out, const char *path)
{
    const struct rlimit no_core = {0, 0};
    const struct rlimit memory = {(rlim_t)GUARD_GIBIBYTES << 30, (rlim_t)GUARD_GIBIBYTES << 30};
    const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    tool_fault reason = {""};

    silence();
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (!IS_SANITIZED) {
        (void)setrlimit(RLIMIT_AS, &memory);
    }
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; ++i) {
        (void)signal(deadly[i], SIG_DFL);
    }
    (void)alarm(GUARD_SECONDS);

    const char verdict = reader(out, path, &reason) ? IS_GOOD : IS_BAD;
    write_all(answer, &verdict, 1);
    write_all(answer, reason.text, strlen(reason.text));
    _exit(0);
}

static void explain_end(int ending, tool_fault *fault)
{
    if (WIFSIGNALED(ending) && WTERMSIG(ending) == SIGALRM) {
        fault_say(fault, "its reader did not finish in %d seconds", GUARD_SECONDS);
    } else if (WIFSIGNALED(ending)) {
        fault_say(fault, "its reader crashed (%s)", strsignal(WTERMSIG(ending)));
    } else {
        fault_say(fault, "its reader gave up without a reason");
    }
}

/// Read the report of the child, then its exit status.
static bool hear_child(int answer, pid_t child, tool_fault *fault)
{
    char said[1 + sizeof fault->text] = "";
    int ending = 0;

    const size_t length = read_all(answer, said, sizeof said - 1);
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR) {
    }
    said[length] = '\0';
    if (length == 0 || !WIFEXITED(ending)) {
        explain_end(ending, fault);
        return false;
    }
    if (said[0] != IS_GOOD) {
        fault_say(fault, "%s", said + 1);
        return false;
    }
    return true;
}

bool guard_try(guard_reader reader, void *out, const char *path, tool_fault *fault)
{
    int ends[2];

    if (pipe(ends) != 0) {
        fault_say(fault, "no pipe for its reader: %s", strerror(errno));
        return false;
    }
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        run_child(ends[1], reader, out, path);
    }
    (void)close(ends[1]);

    bool is_good = false;
    if (child < 0) {
        fault_say(fault, "no process for its reader: %s", strerror(errno));
    } else {
        is_good = hear_child(ends[0], child, fault);
    }
    (void)close(ends[0]);
    return is_good;
}

#endif
