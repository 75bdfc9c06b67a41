/* Shifts a process's wall clock by the seconds that stand in the file $SHIFTED_CLOCK, read again five times a second.
   The monotonic clock goes on as ever. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int real(clockid_t clock, struct timespec *now) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
    return next(clock, now);
}

static long shift(void) {
    static long seconds;
    static double read_at;
    struct timespec now;
    real(CLOCK_MONOTONIC, &now);
    double at = now.tv_sec + now.tv_nsec / 1e9;
    if (at - read_at >= 0.2) {
        read_at = at;
        const char *path = getenv("SHIFTED_CLOCK");
        FILE *file = path ? fopen(path, "r") : NULL;
        if (!file) return seconds = 0;
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = real(clock, now);
    if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    int status = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return status;
}

time_t time(time_t *given) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (given) *given = now.tv_sec;
    return now.tv_sec;
}
