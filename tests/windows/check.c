// SPDX-License-Identifier: MIT
// The runner of the stand-in for Check, in place of tests/runner.c. All suites are in one program, whose
// first argument names the one to be run: linking each alone would take longer than running all.
#include "tests/runner.h"

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <windows.h>

// tests/asserts.h defines this name as a macro; here it is the function.
#undef _ck_assert_failed

// Exit statuses: of abort(), by msvcrt, and of a suite that has no test on Windows.
enum { ABORTED = 3, SKIPPED = 77 };

static struct {
    const char *suite; // the argument that names it
    DWORD thread;      // the thread that the tests run on
    jmp_buf end;       // the end of the running test
    int test;          // number of the running test, from 0
    int aborts;        // calls of check_expect_abort() that the running test has made
    int only_test;     // the one test of this process; -1: it runs all tests
    int only_abort;    // the call of check_expect_abort() that runs its function here; -1: none
} run = {.only_test = -1, .only_abort = -1};

// A test that fails on another thread cannot be left by a jump, so the process ends.
_Noreturn void _ck_assert_failed(const char *file, int line, const char *expression,
                                 const char *message, ...)
{
    va_list arguments;

    (void)printf("# %s:%d: %s", file, line, expression);
    if (message != NULL) {
        (void)printf(": ");
        va_start(arguments, message);
        (void)vprintf(message, arguments);
        va_end(arguments);
    }
    (void)printf("\n");
    (void)fflush(stdout);
    if (GetCurrentThreadId() != run.thread) {
        _exit(EXIT_FAILURE);
    }
    longjmp(run.end, 1);
}

// @param fixture  NULL: none
static bool passes(const test_entry *entry, const test_entry *fixture, int i)
{
    if (setjmp(run.end) != 0) {
        return false;
    }
    run.aborts = 0;
    if (fixture != NULL && fixture->set_up != NULL) {
        fixture->set_up();
    }
    entry->test->function(i);
    if (fixture != NULL && fixture->tear_down != NULL) {
        fixture->tear_down();
    }
    return true;
}

// Run the tests of a file. Returns the exit status.
static int run_suite(const char *file)
{
    const test_entry *fixture = NULL;
    int total = 0, failed = 0;

    run.thread = GetCurrentThreadId();
    for (const test_entry *entry = test_first_entry(); entry != NULL; entry = entry->next) {
        if (strcmp(entry->file, file) != 0) {
            continue;
        }
        fixture = entry->test == NULL ? entry : fixture;
        for (int i = entry->from; i < entry->to; ++i) {
            run.test = total++;
            if (run.only_test >= 0 && run.test != run.only_test) {
                continue;
            }
            if (!passes(entry, fixture, i)) {
                (void)printf("not ok %d %s %s %d\n", total, run.suite, entry->test->name, i);
                failed += 1;
            }
        }
    }
    (void)printf("# %s: %d of %d tests failed\n", run.suite, failed, total);
    (void)fflush(stdout);
    if (total == 0) {
        return SKIPPED;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// --- Functions that must abort ---

// Run a test again, up to its check_expect_abort() of number `call`, in a process that writes stderr to the
// file of a path. Returns the exit status of the process; -1: it did not start.
static intptr_t run_again(int test, int call, const char *path)
{
    char test_text[16], call_text[16];
    const int file = _open(path, _O_CREAT | _O_TRUNC | _O_RDWR | _O_BINARY, 0600), saved = _dup(2);

    ck_assert(file >= 0 && saved >= 0);
    (void)snprintf(test_text, sizeof test_text, "%d", test);
    (void)snprintf(call_text, sizeof call_text, "%d", call);
    (void)fflush(NULL);
    ck_assert_int_eq(_dup2(file, 2), 0);
    const intptr_t status =
        _spawnl(_P_WAIT, _pgmptr, "suites", run.suite, test_text, call_text, NULL);
    ck_assert_int_eq(_dup2(saved, 2), 0);
    (void)_close(saved);
    (void)_close(file);
    return status;
}

void check_expect_abort(void (*function)(void), char *said, size_t size)
{
    const int call = run.aborts++;
    char path[64];

    if (call == run.only_abort) {
        (void)signal(SIGABRT, SIG_DFL);
        function();
        _exit(EXIT_SUCCESS);
    }
    (void)snprintf(path, sizeof path, "abort-%d.txt", _getpid());
    const intptr_t status = run_again(run.test, call, path);
    FILE *const file = fopen(path, "rb");
    const size_t length = file != NULL ? fread(said, 1, size - 1, file) : 0;

    said[length] = '\0';
    ck_assert_ptr_nonnull(file);
    (void)fclose(file);
    (void)remove(path);
    ck_assert_int_eq(status, ABORTED);
}

// --- Sine and cosine ---

static long double by_msvcrt(const char *name, long double angle)
{
    const FARPROC address = GetProcAddress(GetModuleHandleA("msvcrt.dll"), name);
    double (*function)(double) = NULL;

    ck_assert(address != NULL && sizeof function == sizeof address);
    memcpy(&function, &address, sizeof function);
    return (long double)function((double)angle);
}

long double check_sine(long double angle)
{
    return by_msvcrt("sin", angle);
}

long double check_cosine(long double angle)
{
    return by_msvcrt("cos", angle);
}

// --- The environment ---

// An entry with an empty value, as a process inherits one: _putenv() would remove it instead.
int setenv(const char *name, const char *value, int overwrites)
{
    const size_t length = strlen(name);

    if (!overwrites && getenv(name) != NULL) {
        return 0;
    }
    if (_putenv_s(name, value[0] != '\0' ? value : "?") != 0) {
        return -1;
    }
    for (char **entry = _environ; value[0] == '\0' && *entry != NULL; ++entry) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            (*entry)[length + 1] = '\0';
        }
    }
    return 0;
}

int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

// --- The program ---

// Arguments: SUITE [TEST CALL].
int main(int argc, char **argv)
{
    if (argc == 4) {
        run.only_test = atoi(argv[2]);
        run.only_abort = atoi(argv[3]);
    }
    if (argc == 2 || argc == 4) {
        char file[128];

        run.suite = argv[1];
        (void)snprintf(file, sizeof file, "tests/%s.c", run.suite);
        return run_suite(file);
    }
    (void)fprintf(stderr, "usage: suites SUITE\n");
    return 2;
}
