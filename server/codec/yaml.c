// SPDX-License-Identifier: Apache-2.0
// libyaml's events are written as JSON while they come. An anchored value is a range of what was written
// already, so an alias is a copy of bytes.
#include "server/codec/yaml.h"

#include "server/codec/yaml_bridge.h"

#define FIRST_BYTES     256u // the buffer begins with this and the length of the YAML
#define FIRST_PLACES    64u
#define BYTES_PER_PLACE 16u // of YAML, for the first guess

// From here on go-yaml asks what share of its work comes from aliases; the numbers are its own.
// Source: go.yaml.in/yaml/v2 v2.4.4 decode.go, allowedAliasRatio.
#define ALIAS_COUNT_FREE  100u
#define DECODE_COUNT_FREE 1000u
#define RATIO_LOW_COUNT   400000.0
#define RATIO_HIGH_COUNT  4000000.0
#define RATIO_MOST        0.99
#define RATIO_LEAST       0.10

#define WORDS_KEY_SHAPE   "a key is a mapping or a list; only scalars can be keys"
#define WORDS_TRAILING    "text follows the end of the document; put a line of --- between documents"
#define WORDS_MERGE_SHAPE "a merge key (<<) takes a mapping or a list of mappings"

static bool aliases_are_excessive(const struct bridge *bridge) {
    if (bridge->decoded_by_alias <= ALIAS_COUNT_FREE || bridge->decode_count <= DECODE_COUNT_FREE)
        return false;
    double total = (double)bridge->decode_count;
    double allowed = RATIO_MOST;
    if (total >= RATIO_HIGH_COUNT)
        allowed = RATIO_LEAST;
    else if (total > RATIO_LOW_COUNT)
        allowed -=
            (RATIO_MOST - RATIO_LEAST) * (total - RATIO_LOW_COUNT) / (RATIO_HIGH_COUNT - RATIO_LOW_COUNT);
    return (double)bridge->decoded_by_alias / total > allowed;
}

static bool count_steps(struct bridge *bridge, size_t steps, size_t by_alias, const yaml_mark_t *mark) {
    bridge->decode_count += steps;
    bridge->decoded_by_alias += by_alias;
    if (bridge->decode_count > YAML_NODES_LIMIT)
        return bridge_fail(bridge, mark, FAULT_LIMIT, "the document has too many values, aliases followed");
    if (by_alias > 0 && aliases_are_excessive(bridge))
        return bridge_fail(bridge, mark, FAULT_LIMIT, "nearly all of the document comes from aliases");
    return true;
}

static struct frame *top_frame(struct bridge *bridge) {
    return bridge->depth == 0 ? NULL : &bridge->frames[bridge->depth - 1];
}

static bool at_key(struct bridge *bridge) {
    const struct frame *frame = top_frame(bridge);
    return frame != NULL && frame->is_mapping && !frame->wants_value;
}

static bool at_merge(struct bridge *bridge) {
    const struct frame *frame = top_frame(bridge);
    return frame != NULL && frame->merges;
}

// A value is complete; deepest is the nesting that it holds, itself included (0: a scalar).
static bool end_value(struct bridge *bridge, unsigned deepest, const yaml_mark_t *mark) {
    struct frame *frame = top_frame(bridge);
    if (frame == NULL) return true;
    if (deepest > frame->deepest) frame->deepest = deepest;
    if (frame->merges) return bridge_end_merge(bridge, frame, mark);
    frame->wants_value = false;
    return true;
}

// --- Anchors ---

static struct anchor *add_anchor(struct bridge *bridge, const yaml_char_t *name, const yaml_mark_t *mark) {
    if (bridge->anchors.count == YAML_ANCHORS_LIMIT) {
        (void)bridge_fail(bridge, mark, FAULT_LIMIT, "the document has too many anchors");
        return NULL;
    }
    struct text copy = text_copy(bridge->arena, text_of((const char *)name));
    struct anchor *anchor = LIST_APPEND(bridge->arena, &bridge->anchors);
    if (anchor == NULL) {
        (void)bridge_fail_memory(bridge);
        return NULL;
    }
    anchor->name = copy;
    return anchor;
}

static const struct anchor *find_anchor(const struct bridge *bridge, const yaml_char_t *name) {
    struct text wanted = text_of((const char *)name);
    for (size_t i = bridge->anchors.count; i > 0; i--)
        if (text_equal(bridge->anchors.items[i - 1].name, wanted)) return &bridge->anchors.items[i - 1];
    return NULL;
}

// --- Scalars ---

static bool put_key(struct bridge *bridge, const struct yaml_scalar *scalar, const yaml_mark_t *mark) {
    char number[YAML_NUMBER_BYTES];
    struct text key;
    top_frame(bridge)->wants_value = true;
    if (yaml_scalar_key(scalar, number, &key)) return bridge_put_string(bridge, key);
    if (scalar->kind == YAML_IS_NULL)
        return bridge_fail(bridge, mark, FAULT_INPUT, "a key is empty or null; write its name or quote it");
    return bridge_fail(bridge, mark, FAULT_INPUT, "a number is too large for a key; quote it");
}

static bool put_scalar(struct bridge *bridge, const struct yaml_scalar *scalar, const yaml_mark_t *mark) {
    char number[YAML_NUMBER_BYTES];
    switch (scalar->kind) {
    case YAML_IS_TEXT: return bridge_put_string(bridge, scalar->text);
    case YAML_IS_NULL: return bridge_put_bytes(bridge, "null", 4);
    case YAML_IS_TRUE: return bridge_put_bytes(bridge, "true", 4);
    case YAML_IS_FALSE: return bridge_put_bytes(bridge, "false", 5);
    case YAML_IS_INTEGER:
    case YAML_IS_UNSIGNED:
    case YAML_IS_FLOAT: return bridge_put_bytes(bridge, number, yaml_scalar_print(scalar, number));
    case YAML_IS_NOT_FINITE:
    case YAML_IS_WRONG: break;
    }
    return bridge_fail(bridge, mark, FAULT_INPUT,
                       "the value is infinite or no number; quote it if text is meant");
}

// A scalar as a key or as a value, written out or by an alias.
static bool take_scalar(struct bridge *bridge, const struct yaml_scalar *scalar, const yaml_mark_t *mark) {
    if (at_merge(bridge)) return bridge_fail(bridge, mark, FAULT_INPUT, WORDS_MERGE_SHAPE);
    if (scalar->kind == YAML_IS_WRONG)
        return bridge_fail(bridge, mark, FAULT_INPUT,
                           "the value is not what its tag says, or the tag is !!binary");
    bool is_key = at_key(bridge);
    if (!bridge_begin_value(bridge) || !bridge_put_mark(bridge, mark)) return false;
    if (is_key) return put_key(bridge, scalar, mark);
    return put_scalar(bridge, scalar, mark) && end_value(bridge, 0, mark);
}

static bool is_merge_key(struct bridge *bridge, const yaml_event_t *event) {
    if (event->data.scalar.length != 2 || memcmp(event->data.scalar.value, "<<", 2) != 0) return false;
    const char *tag = (const char *)event->data.scalar.tag;
    bool merge = event->data.scalar.plain_implicit != 0 ||
                 (tag != NULL && text_equal(text_of(tag), TEXT("tag:yaml.org,2002:merge")));
    return merge && at_key(bridge);
}

// go-yaml ends plain text in brackets at a question mark, and then has no use for what follows.
static bool has_bare_question(struct bridge *bridge, const yaml_event_t *event) {
    const struct frame *frame = top_frame(bridge);
    return frame != NULL && frame->in_brackets && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           memchr(event->data.scalar.value, '?', event->data.scalar.length) != NULL;
}

static bool keep_scalar(struct bridge *bridge, const yaml_event_t *event, const struct yaml_scalar *scalar) {
    struct anchor *anchor = add_anchor(bridge, event->data.scalar.anchor, &event->start_mark);
    if (anchor == NULL) return false;
    anchor->is_scalar = true;
    anchor->weight = 1;
    anchor->scalar = *scalar;
    anchor->scalar.text = text_copy(
        bridge->arena, (struct text){(const char *)event->data.scalar.value, event->data.scalar.length});
    return !bridge->arena->poisoned || bridge_fail_memory(bridge);
}

static bool on_scalar(struct bridge *bridge, const yaml_event_t *event) {
    const yaml_mark_t *mark = &event->start_mark;
    if (has_bare_question(bridge, event))
        return bridge_fail(bridge, mark, FAULT_INPUT,
                           "text with a question mark must be quoted inside { } and [ ]");
    struct text text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    const char *tag = (const char *)event->data.scalar.tag;
    struct yaml_scalar scalar = yaml_scalar_resolve(text, tag, event->data.scalar.plain_implicit != 0);
    if (event->data.scalar.anchor != NULL && !keep_scalar(bridge, event, &scalar)) return false;
    if (is_merge_key(bridge, event)) {
        struct frame *frame = top_frame(bridge);
        frame->wants_value = true;
        frame->merges = true;
        frame->merge_begin = bridge->len;
        frame->merge_place = bridge->place_count;
        return true;
    }
    return count_steps(bridge, 1, 0, mark) && take_scalar(bridge, &scalar, mark);
}

// --- Mappings, sequences, aliases ---

static bool on_alias(struct bridge *bridge, const yaml_event_t *event) {
    const yaml_mark_t *mark = &event->start_mark;
    const struct anchor *anchor = find_anchor(bridge, event->data.alias.anchor);
    if (anchor == NULL)
        return bridge_fail(bridge, mark, FAULT_INPUT, "an alias (*) names an anchor (&) that is not there");
    if (anchor->open)
        return bridge_fail(bridge, mark, FAULT_INPUT, "the value of an anchor (&) contains itself");
    if (++bridge->alias_count > YAML_ALIASES_LIMIT)
        return bridge_fail(bridge, mark, FAULT_LIMIT, "the document has too many aliases");
    if (!count_steps(bridge, 1 + anchor->weight, anchor->weight, mark)) return false;
    if (anchor->is_scalar) return take_scalar(bridge, &anchor->scalar, mark);
    if (at_key(bridge)) return bridge_fail(bridge, mark, FAULT_INPUT, WORDS_KEY_SHAPE);
    if (at_merge(bridge) && !anchor->is_mapping)
        return bridge_fail(bridge, mark, FAULT_INPUT, WORDS_MERGE_SHAPE);
    if (bridge->depth + anchor->depth > YAML_DEPTH_LIMIT)
        return bridge_fail(bridge, mark, FAULT_LIMIT, "the document is nested too deeply, aliases followed");
    return bridge_begin_value(bridge) &&
           bridge_put_range(bridge, anchor->kept, anchor->range, anchor->places) &&
           end_value(bridge, anchor->depth, mark);
}

static bool on_start(struct bridge *bridge, const yaml_event_t *event) {
    bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_mark_t *mark = &event->start_mark;
    const yaml_char_t *name =
        is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    if (at_key(bridge)) return bridge_fail(bridge, mark, FAULT_INPUT, WORDS_KEY_SHAPE);
    if (bridge->depth == YAML_DEPTH_LIMIT)
        return bridge_fail(bridge, mark, FAULT_LIMIT, "the document is nested too deeply");
    bool in_brackets = is_mapping ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                                  : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    struct frame frame = {
        .is_mapping = is_mapping, .in_brackets = in_brackets, .weight = bridge->decode_count};
    if (!count_steps(bridge, 1, 0, mark) || !bridge_begin_value(bridge)) return false;
    frame.begin = bridge->len;
    frame.first_place = bridge->place_count;
    if (!bridge_put_mark(bridge, mark)) return false;
    if (name != NULL) {
        struct anchor *anchor = add_anchor(bridge, name, mark);
        if (anchor == NULL) return false;
        anchor->open = true;
        anchor->is_mapping = is_mapping;
        frame.anchor = bridge->anchors.count;
    }
    bridge->frames[bridge->depth++] = frame;
    return bridge_put_bytes(bridge, is_mapping ? "{" : "[", 1);
}

static bool on_end(struct bridge *bridge, const yaml_event_t *event) {
    struct frame *frame = top_frame(bridge);
    if (frame->merged.count > 0 && !bridge_drop_overridden(bridge, frame)) return false;
    if (!bridge_put_bytes(bridge, frame->is_mapping ? "}" : "]", 1)) return false;
    if (frame->anchor > 0) {
        struct anchor *anchor = &bridge->anchors.items[frame->anchor - 1];
        anchor->open = false;
        anchor->depth = frame->deepest + 1;
        anchor->weight = bridge->decode_count - frame->weight;
        anchor->range = (struct span){frame->begin, bridge->len};
        anchor->places = (struct span){frame->first_place, bridge->place_count};
    }
    unsigned deepest = frame->deepest + 1;
    bridge->depth--;
    return end_value(bridge, deepest, &event->start_mark);
}

// --- The document ---

// The line of the input on which an error stands, without its end.
static struct text line_of_input(struct text yaml, size_t line) {
    size_t begin = 0;
    for (; line > 0; line--) {
        begin = text_find(yaml, '\n', begin) + 1;
        if (begin >= yaml.len) return (struct text){0};
    }
    return text_slice(yaml, begin, text_find(yaml, '\n', begin));
}

static bool has_tab_before(struct text line) {
    for (size_t i = 0; i < line.len && (line.ptr[i] == ' ' || line.ptr[i] == '\t'); i++)
        if (line.ptr[i] == '\t') return true;
    return false;
}

// What libyaml has to say, in one line.
static bool fail_parser(struct bridge *bridge, struct text yaml, bool seen) {
    const yaml_parser_t *parser = &bridge->parser;
    const char *problem = parser->problem == NULL ? "the text is no YAML" : parser->problem;
    if (parser->error == YAML_MEMORY_ERROR) return fault_set(bridge->fault, FAULT_MEMORY, "out of memory");
    if (parser->error == YAML_READER_ERROR) {
        struct text before = text_slice(yaml, 0, parser->problem_offset);
        bridge->error.line = bridge->first_line;
        size_t begin = 0;
        for (size_t at = text_find(before, '\n', 0); at < before.len; at = text_find(before, '\n', begin)) {
            bridge->error.line++;
            begin = at + 1;
        }
        bridge->error.column = (uint32_t)(before.len - begin) + 1;
        return fault_set(bridge->fault, FAULT_INPUT, "%s (byte 0x%02x)", problem,
                         parser->problem_value < 0 ? 0u : (unsigned)parser->problem_value);
    }
    if (seen && strcmp(problem, "did not find expected <document start>") == 0) problem = WORDS_TRAILING;
    (void)bridge_fail(bridge, &parser->problem_mark, FAULT_INPUT, problem);
    if (has_tab_before(line_of_input(yaml, parser->problem_mark.line)))
        return fault_set(bridge->fault, FAULT_INPUT, "%s; YAML takes no tabs as indentation, use blanks",
                         problem);
    if (parser->context == NULL) return false;
    return fault_set(bridge->fault, FAULT_INPUT, "%s %s that begins in line %zu", problem, parser->context,
                     parser->context_mark.line + bridge->first_line);
}

static bool on_event(struct bridge *bridge, const yaml_event_t *event, bool *seen) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: return on_scalar(bridge, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT: return on_start(bridge, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: return on_end(bridge, event);
    case YAML_ALIAS_EVENT: return on_alias(bridge, event);
    case YAML_DOCUMENT_START_EVENT:
        if (*seen) return bridge_fail(bridge, &event->start_mark, FAULT_INPUT, WORDS_TRAILING);
        *seen = true;
        return true;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: break;
    }
    return true;
}

static bool read_events(struct bridge *bridge, struct text yaml, bool *ret_seen) {
    bool done = false;
    while (!done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&bridge->parser, &event)) return fail_parser(bridge, yaml, *ret_seen);
        done = event.type == YAML_STREAM_END_EVENT;
        bool fine = on_event(bridge, &event, ret_seen);
        yaml_event_delete(&event);
        if (!fine) return false;
    }
    return true;
}

static bool start(struct bridge *bridge, struct text yaml) {
    bridge->capacity = yaml.len + FIRST_BYTES;
    bridge->place_capacity = yaml.len / BYTES_PER_PLACE + FIRST_PLACES;
    bridge->out = arena_alloc(bridge->arena, bridge->capacity);
    bridge->places = arena_alloc(bridge->arena, bridge->place_capacity * sizeof *bridge->places);
    if (bridge->out == NULL || bridge->places == NULL) return bridge_fail_memory(bridge);
    if (!yaml_parser_initialize(&bridge->parser))
        return fault_set(bridge->fault, FAULT_MEMORY, "out of memory");
    const char *input = yaml.len == 0 ? "" : yaml.ptr;
    yaml_parser_set_input_string(&bridge->parser, (const unsigned char *)input, yaml.len);
    return true;
}

bool yaml_to_json(struct arena *arena, struct text yaml, uint32_t first_line, struct yaml_json *ret_json,
                  struct yaml_place *ret_error, struct fault *fault) {
    struct bridge *bridge = arena_zalloc(arena, 1, sizeof *bridge);
    if (bridge == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    bridge->arena = arena;
    bridge->fault = fault;
    bridge->first_line = first_line;
    bool seen = false;
    bool fine = start(bridge, yaml);
    if (fine) {
        fine = read_events(bridge, yaml, &seen);
        yaml_parser_delete(&bridge->parser);
    }
    if (!fine) {
        if (ret_error != NULL) *ret_error = bridge->error;
        return false;
    }
    *ret_json = (struct yaml_json){.json = seen ? (struct text){bridge->out, bridge->len} : TEXT("null"),
                                   .places = bridge->places,
                                   .place_count = bridge->place_count,
                                   .empty = !seen};
    return true;
}

const struct yaml_place *yaml_find_place(const struct yaml_json *json, size_t json_offset) {
    size_t low = 0;
    size_t high = json->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (json->places[middle].json_offset <= json_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &json->places[low - 1];
}

// --- Cutting a file into documents ---

static uint32_t count_lines(struct text text) {
    uint32_t count = 0;
    for (size_t at = text_find(text, '\n', 0); at < text.len; at = text_find(text, '\n', at + 1)) count++;
    return count;
}

// The next line at or after from that begins with three dashes, or the end of the file.
static size_t find_dashes(struct text file, size_t from) {
    while (from < file.len) {
        if (text_starts_with(text_slice(file, from, file.len), TEXT("---"))) return from;
        const char *found = memmem(file.ptr + from, file.len - from, "\n---", 4);
        if (found == NULL) return file.len;
        from = (size_t)(found - file.ptr) + 1;
    }
    return file.len;
}

static bool holds_text(struct text line) {
    for (size_t i = 0; i < line.len && line.ptr[i] != '#'; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r') return true;
    return false;
}

bool yaml_next_piece(struct yaml_cutter *cutter, struct yaml_piece *ret_piece) {
    struct text file = cutter->file;
    while (cutter->at < file.len) {
        size_t begin = cutter->at;
        size_t dashes = find_dashes(file, begin);
        if (dashes > begin) {
            ret_piece->text = text_slice(file, begin, dashes);
            ret_piece->line = cutter->line + 1;
            ret_piece->bad_separator = false;
            cutter->line += count_lines(ret_piece->text);
            cutter->at = dashes;
            return true;
        }
        size_t end = text_find(file, '\n', begin);
        struct text rest = text_slice(file, begin + 3, end);
        cutter->at = end < file.len ? end + 1 : end;
        cutter->line++;
        if (!holds_text(rest)) continue;
        *ret_piece = (struct yaml_piece){text_slice(file, begin, end), cutter->line, true};
        return true;
    }
    return false;
}
