// SPDX-License-Identifier: Apache-2.0
// Texts of findings. Names and values in them come from tenants: all are made printable here.
#include "validators/registry/message.h"

static const struct text ellipsis = TEXT_INIT("\xE2\x80\xA6");

// Control bytes and the like escaped, quotes and backslashes as they are.
static struct text clean(struct arena *arena, struct text text, size_t limit_bytes) {
    struct text printable = text_printable(arena, text, limit_bytes);
    char *out = arena_alloc(arena, printable.len + 1);
    if (out == NULL) return (struct text){"", 0};
    size_t len = 0;
    for (size_t i = 0; i < printable.len; i++) {
        bool escape = printable.ptr[i] == '\\' && i + 1 < printable.len;
        if (escape && (printable.ptr[i + 1] == '"' || printable.ptr[i + 1] == '\\')) i++;
        out[len++] = printable.ptr[i];
    }
    out[len] = '\0';
    return (struct text){out, len};
}

// Cuts a clean text to a limit, at a character.
static struct text cut(struct arena *arena, struct text text, size_t limit_bytes) {
    if (text.len <= limit_bytes) return text;
    size_t at = limit_bytes < ellipsis.len ? 0 : limit_bytes - ellipsis.len;
    while (at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80) at--;
    return text_format(arena, "%.*s%.*s", (int)at, text.ptr, TEXT_ARG(ellipsis));
}

struct text message_what(struct arena *arena, const struct finding *finding) {
    struct text detail = clean(arena, finding->detail, MESSAGE_LINE_LIMIT_BYTES);
    struct text hint = clean(arena, finding->hint, MESSAGE_LINE_LIMIT_BYTES);
    if (hint.len == 0) return detail;
    if (detail.len == 0) return hint;
    return text_format(arena, "%.*s; %.*s", TEXT_ARG(detail), TEXT_ARG(hint));
}

struct text message_line(struct arena *arena, const struct finding *finding, size_t limit_bytes) {
    struct text path = clean(arena, finding->path, MESSAGE_PATH_LIMIT_BYTES);
    struct text value = text_printable(arena, finding->value, MESSAGE_VALUE_LIMIT_BYTES);
    struct text what = message_what(arena, finding);
    struct text head = text_format(arena, "%.*s%s%s%s%.*s%s%s", TEXT_ARG(path), path.len > 0 ? ": " : "",
                                   finding_type_words(finding->type), value.len > 0 ? ": \"" : "",
                                   TEXT_ARG(value), value.len > 0 ? "\"" : "", what.len > 0 ? ": " : "");
    struct text tail = text_format(arena, " [%s]", finding->rule);
    size_t room = limit_bytes > tail.len ? limit_bytes - tail.len : 0;
    struct text body = text_format(arena, "%.*s%.*s", TEXT_ARG(head), TEXT_ARG(what));
    return text_format(arena, "%.*s%.*s", TEXT_ARG(cut(arena, body, room)), TEXT_ARG(tail));
}

struct text message_for_people(struct arena *arena, struct finding_list *findings, enum severity severity) {
    finding_list_sort(findings);
    const size_t room_for_more = sizeof "\nand 18446744073709551615 more" - 1;
    struct text lines[MESSAGE_PEOPLE_LINES];
    size_t line_count = 0;
    size_t len = 0;
    size_t more = findings->dropped_count;
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].severity != severity) continue;
        struct text line = {NULL, 0};
        if (line_count < MESSAGE_PEOPLE_LINES && more == findings->dropped_count)
            line = message_line(arena, &findings->items[i], MESSAGE_LINE_LIMIT_BYTES);
        if (line.len == 0 || len + line.len + 1 + room_for_more > MESSAGE_PEOPLE_LIMIT_BYTES) {
            more++;
            continue;
        }
        lines[line_count++] = line;
        len += line.len + 1;
    }
    char *out = arena_alloc(arena, MESSAGE_PEOPLE_LIMIT_BYTES + 1);
    if (out == NULL) return (struct text){"", 0};
    size_t at = 0;
    for (size_t i = 0; i < line_count; i++) {
        if (i > 0) out[at++] = '\n';
        memcpy(out + at, lines[i].ptr, lines[i].len);
        at += lines[i].len;
    }
    struct text rest = text_format(arena, "%sand %zu more", line_count > 0 ? "\n" : "", more);
    if (more > 0) {
        memcpy(out + at, rest.ptr, rest.len);
        at += rest.len;
    }
    out[at] = '\0';
    return (struct text){out, at};
}

struct text message_for_scheduler(struct arena *arena, struct finding_list *findings,
                                  enum severity severity) {
    finding_list_sort(findings);
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->severity != severity) continue;
        struct text what = message_what(arena, finding);
        struct text text = text_format(arena, "[%s] %.*s", finding->rule, TEXT_ARG(what));
        return cut(arena, text, MESSAGE_SCHEDULER_LIMIT_BYTES);
    }
    return (struct text){"", 0};
}
