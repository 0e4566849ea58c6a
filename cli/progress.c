#include "progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 28 };

cli_progress cli_progress_begin(int64_t total, bool quiet) {
    double now = sn_seconds();
    return (cli_progress){.enabled = !quiet && isatty(STDERR_FILENO), .total = total, .begin = now, .last = now};
}

void cli_progress_show(cli_progress *progress, int64_t done, const char *note) {
    if (!progress->enabled) return;
    double now = sn_seconds(), elapsed = now - progress->begin;
    if (elapsed < 1 || now - progress->last < 0.1) return;
    progress->last = now;
    progress->shown = true;
    double share = progress->total > 0 ? (double)done / (double)progress->total : 1, rate = (double)done / elapsed;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %lld/%lld  %.1f steps/s  %.0f s left  %s\033[K", bar, (long long)done, (long long)progress->total,
            rate, rate > 0 ? (double)(progress->total - done) / rate : 0, note);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->shown) fprintf(stderr, "\r\033[K");
}
