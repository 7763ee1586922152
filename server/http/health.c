// SPDX-License-Identifier: Apache-2.0
// Running checks and writing the page.
#include "server/http/health.h"

void health_init(struct health *health) {
    *health = (struct health){.count = 0};
    pthread_mutex_init(&health->mutex, NULL);
}

void health_release(struct health *health) {
    if (health != NULL) pthread_mutex_destroy(&health->mutex);
}

bool health_add(struct health *health, const char *name, unsigned kinds, health_check *check, void *state) {
    pthread_mutex_lock(&health->mutex);
    bool fits = health->count < HEALTH_CHECKS_LIMIT;
    if (fits) {
        health->items[health->count].name = name;
        health->items[health->count].kinds = kinds;
        health->items[health->count].check = check;
        health->items[health->count].state = state;
        health->count++;
    }
    pthread_mutex_unlock(&health->mutex);
    return fits;
}

void health_remove(struct health *health, const void *state) {
    pthread_mutex_lock(&health->mutex);
    size_t kept = 0;
    for (size_t i = 0; i < health->count; i++)
        if (health->items[i].state != state) health->items[kept++] = health->items[i];
    health->count = kept;
    pthread_mutex_unlock(&health->mutex);
}

static void write_line(struct out *out, const char *name, bool fine, const char *why) {
    if (fine && why[0] != '\0')
        out_format(out, "[+]%s ok: %s\n", name, why);
    else if (fine)
        out_format(out, "[+]%s ok\n", name);
    else
        out_format(out, "[-]%s failed: %s\n", name, why);
}

bool health_page(struct health *health, enum health_kind kind, bool verbose, struct out *out) {
    bool all = true;
    size_t begin = out->len;
    write_line(out, "ping", true, "");
    if (kind == HEALTH_READY) {
        all = !atomic_load_explicit(&health->draining, memory_order_relaxed);
        write_line(out, "shutdown", all, all ? "" : "the server is about to end");
    }
    pthread_mutex_lock(&health->mutex);
    for (size_t i = 0; i < health->count; i++) {
        if ((health->items[i].kinds & (unsigned)kind) == 0) continue;
        char why[HEALTH_WHY_BYTES] = "";
        bool fine = health->items[i].check(health->items[i].state, why);
        write_line(out, health->items[i].name, fine, why);
        all = all && fine;
    }
    pthread_mutex_unlock(&health->mutex);
    const char *page = kind == HEALTH_LIVE ? "livez" : "readyz";
    if (all && !verbose) {
        out->len = begin;
        OUT_LITERAL(out, "ok");
    } else {
        out_format(out, "%s check %s\n", page, all ? "passed" : "failed");
    }
    return all;
}
