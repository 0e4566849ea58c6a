// The progress bar, and the line of an activity whose duration is unknown, which a thread of its
// own redraws.
#include "progress.h"

#include "clock.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 28 };

cli_progress cli_progress_begin(int64_t total, bool quiet) {
    double now = cli_seconds();
    return (cli_progress){
        .enabled = !quiet && isatty(STDERR_FILENO), .total = total, .begin = now, .last = now};
}

void cli_progress_show(cli_progress *progress, int64_t done, const char *note) {
    if (!progress->enabled) {
        return;
    }

    // Not in the first second, and at most ten times a second.
    double now = cli_seconds();
    double elapsed = now - progress->begin;
    if (elapsed < 1 || now - progress->last < 0.1) {
        return;
    }

    progress->last = now;
    progress->shown = true;

    // Steps so far, their rate, and the time left at this rate.
    double share = progress->total > 0 ? (double)done / (double)progress->total : 1;
    double rate = (double)done / elapsed;
    char bar[BAR_WIDTH + 1];

    for (int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    }

    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %lld/%lld  %.1f steps/s  %.0f s left  %s\033[K", bar, (long long)done,
            (long long)progress->total, rate,
            rate > 0 ? (double)(progress->total - done) / rate : 0, note);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
    }
}

// Waits on the condition for a tenth of a second; false when the work has ended.
static bool wait_a_moment(cli_activity *activity) {
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_nsec += 100000000;

    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }

    if (!activity->ended) {
        pthread_cond_timedwait(&activity->wake, &activity->mutex, &until);
    }

    return !activity->ended;
}

static void *show_activity(void *user) {
    static const char turning[] = "|/-\\";
    cli_activity *activity = user;
    bool shown = false;

    pthread_mutex_lock(&activity->mutex);
    for (unsigned tick = 0; wait_a_moment(activity); tick++) {
        double elapsed = cli_seconds() - activity->begin;
        if (elapsed < 1) {
            continue;
        }

        fprintf(stderr, "\r%c %s  %.0f s\033[K", turning[tick % 4], activity->what, elapsed);
        fflush(stderr);
        shown = true;
    }

    if (shown) {
        fprintf(stderr, "\r\033[K");
    }

    pthread_mutex_unlock(&activity->mutex);
    return NULL;
}

// One line at a time: work within other work is not shown.
static bool is_silent, is_shown;

void cli_activity_silence(void) {
    is_silent = true;
}

void cli_activity_begin(cli_activity *activity, const char *what) {
    bool enabled = !is_silent && !is_shown && isatty(STDERR_FILENO);
    *activity = (cli_activity){.enabled = enabled, .begin = cli_seconds(), .what = what};
    if (!activity->enabled) {
        return;
    }

    pthread_mutex_init(&activity->mutex, NULL);
    pthread_cond_init(&activity->wake, NULL);
    if (pthread_create(&activity->thread, NULL, show_activity, activity) == 0) {
        is_shown = true;
        return;
    }

    activity->enabled = false; // no thread, no line
    pthread_cond_destroy(&activity->wake);
    pthread_mutex_destroy(&activity->mutex);
}

void cli_activity_end(cli_activity *activity) {
    if (!activity->enabled) {
        return;
    }

    pthread_mutex_lock(&activity->mutex);
    activity->ended = true;
    pthread_cond_signal(&activity->wake);
    pthread_mutex_unlock(&activity->mutex);
    pthread_join(activity->thread, NULL);
    pthread_cond_destroy(&activity->wake);
    pthread_mutex_destroy(&activity->mutex);
    activity->enabled = false;
    is_shown = false;
}
