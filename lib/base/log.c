// SPDX-License-Identifier: MIT
#include <espalier/base.h>

#include <stdio.h>

void espl_log_stderr(void *user, espl_log_level level, const char *message)
{
    static const char *const names[] = {
        [ESPL_LOG_INFO] = "info", [ESPL_LOG_WARNING] = "warning", [ESPL_LOG_ERROR] = "error"};
    const char *const name =
        (unsigned)level < sizeof names / sizeof *names ? names[level] : "message";

    (void)user;
    if (message != NULL) {
        // One call, so that the lines of several threads do not mix.
        (void)fprintf(stderr, "espalier: %s: %s\n", name, message);
    }
}
