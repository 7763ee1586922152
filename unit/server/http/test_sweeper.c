// SPDX-License-Identifier: Apache-2.0
// The list of connections: phases, deadlines, the drain, sockets that nobody closes.
#include <criterion/criterion.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/sweeper.h"

struct pair {
    int ours;
    int theirs;
    struct connection *connection;
};

static struct sweeper sweeper;

static void start(const struct deadlines *deadlines) {
    struct fault fault;
    cr_assert(sweeper_start(&sweeper, deadlines, &fault), "%s", fault.text);
}

static struct pair add(bool plain) {
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct pair pair = {ends[0], ends[1],
                        sweeper_add(&sweeper, ends[0], plain, NULL, &(struct caller){.len = 0}, 0)};
    cr_assert_not_null(pair.connection);
    return pair;
}

static void end(struct pair *pair) {
    sweeper_remove(&sweeper, pair->connection);
    close(pair->ours);
    close(pair->theirs);
}

// Whether the other side sees the end within the time.
static bool closed_within(const struct pair *pair, int wait_ms) {
    struct pollfd ready = {.fd = pair->theirs, .events = POLLIN};
    char byte;
    return poll(&ready, 1, wait_ms) == 1 && recv(pair->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static uint64_t closed(enum connection_phase phase) {
    return atomic_load(&sweeper.closed_counts[phase]);
}

Test(sweeper, each_phase_has_its_own_deadline) {
    start(&(struct deadlines){.tls_begin_ms = 400, .header_ms = 60000, .request_ms = 1, .idle_ms = 500});
    struct pair silent = add(false);
    struct pair greeted = add(false);
    struct pair busy = add(false);
    struct pair plain = add(true);
    sweeper_tls_began(&sweeper, greeted.connection);
    sweeper_request_began(busy.connection, sweeper_now_ms(), 60000);
    cr_expect(closed_within(&silent, 3000));
    cr_expect_not(closed_within(&greeted, 300), "its deadline is that of the header");
    cr_expect_not(closed_within(&busy, 1));
    cr_expect_not(closed_within(&plain, 1), "nothing to greet");
    sweeper_request_ended(&sweeper, busy.connection, sweeper_now_ms());
    cr_expect(closed_within(&busy, 3000), "idle for too long");
    sweeper_request_began(greeted.connection, sweeper_now_ms(), 200);
    cr_expect(closed_within(&greeted, 3000));
    cr_expect_eq(closed(PHASE_TLS_BEGIN), 1);
    cr_expect_eq(closed(PHASE_IDLE), 1);
    cr_expect_eq(closed(PHASE_REQUEST), 1);
    cr_expect_eq(closed(PHASE_HEADER), 0);
    cr_expect_eq(atomic_load(&sweeper.count), 3, "plain ones are not callers");
    end(&silent);
    end(&greeted);
    end(&busy);
    end(&plain);
    cr_expect_eq(atomic_load(&sweeper.count), 0);
    sweeper_stop(&sweeper);
}

Test(sweeper, the_greeting_counts_once_and_only_before_a_request) {
    start(&(struct deadlines){.tls_begin_ms = 60000, .header_ms = 300, .idle_ms = 60000});
    struct pair pair = add(false);
    sweeper_request_began(pair.connection, sweeper_now_ms(), 60000);
    sweeper_tls_began(&sweeper, pair.connection);
    cr_expect_not(closed_within(&pair, 600), "a second greeting must not shorten or stretch anything");
    end(&pair);
    sweeper_stop(&sweeper);
}

Test(sweeper, the_drain_closes_what_is_idle_and_quiet) {
    start(&(struct deadlines){.tls_begin_ms = 60000, .header_ms = 60000, .idle_ms = 60000});
    struct pair idle = add(false);
    struct pair busy = add(false);
    struct pair fresh = add(false);
    struct pair waiting = add(false);
    struct pair plain = add(true);
    int64_t now_ms = sweeper_now_ms();
    sweeper_request_ended(&sweeper, idle.connection, now_ms);
    sweeper_request_began(busy.connection, now_ms, 60000);
    sweeper_request_ended(&sweeper, waiting.connection, now_ms);
    sweeper_request_ended(&sweeper, plain.connection, now_ms);
    cr_assert_eq(write(waiting.theirs, "POST", 4), 4);
    sweeper_close_idle(&sweeper);
    cr_expect(closed_within(&idle, 3000));
    cr_expect_not(closed_within(&busy, 300));
    cr_expect_not(closed_within(&fresh, 1), "its request may be on the way");
    cr_expect_not(closed_within(&waiting, 1), "its request is here, only not read yet");
    cr_expect_not(closed_within(&plain, 1), "probes go on");
    sweeper_request_ended(&sweeper, busy.connection, sweeper_now_ms());
    cr_expect(closed_within(&busy, 3000), "as it becomes idle");
    for (int i = 0; i < PHASE_COUNT; i++) cr_expect_eq(closed((enum connection_phase)i), 0, "none was late");
    end(&idle);
    end(&busy);
    end(&fresh);
    end(&waiting);
    end(&plain);
    sweeper_stop(&sweeper);
}

Test(sweeper, a_socket_that_nobody_closes_is_told) {
    start(&(struct deadlines){.tls_begin_ms = 1, .header_ms = 1, .idle_ms = 1});
    struct pair pair = add(false);
    cr_expect(closed_within(&pair, 3000));
    for (int i = 0; i < 300 && atomic_load(&sweeper.stuck_ms) < 400; i++) usleep(10000);
    cr_expect_geq(atomic_load(&sweeper.stuck_ms), 400);
    cr_expect_leq(sweeper_now_ms() - atomic_load(&sweeper.beat_ms), 2000);
    end(&pair);
    for (int i = 0; i < 300 && atomic_load(&sweeper.stuck_ms) > 0; i++) usleep(10000);
    cr_expect_eq(atomic_load(&sweeper.stuck_ms), 0);
    sweeper_stop(&sweeper);
}

Test(sweeper, deadlines_can_be_replaced) {
    struct deadlines deadlines = {.tls_begin_ms = 60000,
                                  .request_ms = 5,
                                  .request_most_ms = 6,
                                  .request_reserve_ms = 7,
                                  .idle_ms = 8,
                                  .header_ms = 9};
    start(&deadlines);
    struct pair before = add(false);
    deadlines.tls_begin_ms = 200;
    sweeper_set_deadlines(&sweeper, &deadlines);
    struct deadlines now;
    sweeper_get_deadlines(&sweeper, &now);
    cr_expect(now.tls_begin_ms == 200 && now.request_ms == 5 && now.request_most_ms == 6 &&
              now.request_reserve_ms == 7 && now.idle_ms == 8 && now.header_ms == 9);
    struct pair after = add(false);
    cr_expect(closed_within(&after, 3000));
    cr_expect_not(closed_within(&before, 1), "what has begun keeps its own");
    end(&before);
    end(&after);
    sweeper_stop(&sweeper);
}
