// SPDX-License-Identifier: Apache-2.0
// A cluster's API server, read once: its version, its feature gates where it tells them, and every object.
#include "server/cli/audit.h"
#include "server/cli/cluster_config.h"
#include "server/feed/api.h"
#include "server/feed/frames.h"
#include "server/kube_version.h"

#define PAGE_BYTES      ((size_t)256 << 20)
#define PAGES_MOST      100000u
#define GATE_LINE_BYTES 512u
#define RIGHTS_PREFIX   "/apis/rbac.authorization.k8s.io/v1"
#define RIGHTS_VERSION  "rbac.authorization.k8s.io/v1"

// Items of a list say neither apiVersion nor kind.
struct listing {
    struct audit_world *world;
    const char *prefix; // of the path
    const char *resource;
    const char *selector; // of fields, escaped; "": none
    const char *kind;
    struct arena arena;
};

static const struct {
    const char *resource, *kind;
} rights[] = {
    {"clusterroles", "ClusterRole"}, {"roles", "Role"}, {"clusterrolebindings", "ClusterRoleBinding"}};

static const char *kind_name(enum object_kind kind) {
    switch (kind) {
    case KIND_LEDGER_POLICY: return "LedgerPolicy";
    case KIND_NODE_LEDGER: return "NodeLedger";
    case KIND_NODE: return "Node";
    case KIND_NAMESPACE: return "Namespace";
    case KIND_DEVICE_CLASS: return "DeviceClass";
    case KIND_RESOURCE_SLICE: return "ResourceSlice";
    case KIND_RESOURCE_CLAIM_TEMPLATE: return "ResourceClaimTemplate";
    case KIND_RESOURCE_CLAIM: return "ResourceClaim";
    case KIND_POD: return "Pod";
    case KIND_DEVICE_TAINT_RULE: return "DeviceTaintRule";
    case KIND_LEASE: return "Lease";
    default: return "";
    }
}

// An item with its apiVersion and kind in front.
static struct text whole_item(struct listing *listing, struct text item) {
    const char *group = strncmp(listing->prefix, "/apis/", 6) == 0 ? listing->prefix + 6 : "v1";
    struct text head =
        text_format(&listing->arena, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",", group, listing->kind);
    char *whole = arena_alloc(&listing->arena, head.len + item.len);
    if (head.len == 0 || whole == NULL) return (struct text){NULL, 0};
    memcpy(whole, head.ptr, head.len);
    memcpy(whole + head.len, item.ptr + 1, item.len - 1);
    return (struct text){whole, head.len + item.len - 1};
}

// Objects of custom resources say what they are, those of Kubernetes in a list do not. One that cannot be
// read is told of, and the others are judged.
static bool take(void *context, struct text item, struct fault *fault) {
    struct listing *listing = context;
    arena_clear(&listing->arena);
    bool names_itself = text_starts_with(item, TEXT("{\"apiVersion\":"));
    struct text json = item.len < 2 || names_itself ? item : whole_item(listing, item);
    if (json.len == 0) return fault_set(fault, FAULT_MEMORY, "no memory for an object");
    if (audit_world_add(listing->world, json, NULL, fault)) return true;
    if (fault->code != FAULT_INPUT) return false;
    listing->world->unreadable_count++;
    fprintf(stderr, "drawbridge audit: one of the %s cannot be read: %s\n", listing->resource, fault->text);
    return true;
}

// One page. *ret_code is that of the answer.
static bool read_page(struct api *api, struct listing *listing, struct text token, struct arena *arena,
                      struct frame_list *ret_list, int *ret_code, struct fault *fault) {
    char path[API_PATH_BYTES * 8];
    struct api_answer answer;
    int len = snprintf(path, sizeof path, "%s/%s?limit=500%s%s%s%.*s", listing->prefix, listing->resource,
                       listing->selector[0] == '\0' ? "" : "&fieldSelector=", listing->selector,
                       token.len == 0 ? "" : "&continue=", TEXT_ARG(token));
    if (len < 0 || (size_t)len >= sizeof path)
        return fault_set(fault, FAULT_INPUT, "the token of the next page is too long");
    if (!api_request(api, API_GET, path, (struct text){NULL, 0}, &answer, fault)) return false;
    *ret_code = answer.http_code;
    if (answer.http_code == 404) return true;
    if (!api_is_success(&answer)) return api_refusal(&answer, fault);
    return frame_read_list(arena, answer.body, take, listing, ret_list, fault);
}

// Every page of one resource; *ret_served: the server knows it.
static bool read_list(struct api *api, struct listing *listing, bool *ret_served, struct fault *fault) {
    struct arena arena, tokens;
    struct frame_list list = {.next = {NULL, 0}};
    struct text token = {NULL, 0};
    int code = 0;
    bool fine = true;
    arena_init(&arena, PAGE_BYTES);
    arena_init(&tokens, PAGE_BYTES);
    for (size_t i = 0; fine && (i == 0 || token.len > 0) && i < PAGES_MOST; i++) {
        arena_clear(&arena);
        list.next = (struct text){NULL, 0};
        fine = read_page(api, listing, token, &arena, &list, &code, fault);
        arena_clear(&tokens);
        token = text_copy(&tokens, list.next);
    }
    *ret_served = code != 404;
    arena_release(&arena);
    arena_release(&tokens);
    return fine || fault_wrap(fault, "%s", listing->resource);
}

static bool read_kind(struct api *api, struct audit_world *world, const struct feed_kind *row,
                      struct fault *fault) {
    struct listing listing = {.world = world,
                              .prefix = row->prefix,
                              .resource = row->resource,
                              .selector = row->field_selector,
                              .kind = kind_name(row->kind)};
    char namespaced[128];
    bool served = false;
    snprintf(namespaced, sizeof namespaced, "namespaces/%s/%s", row->namespace, row->resource);
    if (row->namespace[0] != '\0') listing.resource = namespaced;
    arena_init(&listing.arena, PAGE_BYTES);
    bool fine = read_list(api, &listing, &served, fault);
    if (fine && !served && row->older_prefix != NULL) {
        listing.prefix = row->older_prefix;
        fine = read_list(api, &listing, &served, fault);
    }
    if (fine && !served && !row->optional)
        fine = fault_set(fault, FAULT_STATE, "the API server does not serve %s", row->resource);
    if (row->kind == KIND_DEVICE_TAINT_RULE) world->taint_rules_served = served;
    arena_release(&listing.arena);
    return fine;
}

// Rights that may not be read are told of; everything else is still judged.
static bool read_rights(struct api *api, struct audit_world *world, struct fault *fault) {
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        struct listing listing = {.world = world,
                                  .prefix = RIGHTS_PREFIX,
                                  .resource = rights[i].resource,
                                  .selector = "",
                                  .kind = rights[i].kind};
        bool served;
        arena_init(&listing.arena, PAGE_BYTES);
        bool fine = read_list(api, &listing, &served, fault);
        arena_release(&listing.arena);
        if (!fine && fault->code != FAULT_USAGE && fault->code != FAULT_IO && fault->code != FAULT_STATE)
            return false;
        if (!fine) fprintf(stderr, "drawbridge audit: rights are not judged: %s\n", fault->text);
    }
    return true;
}

// ---- what the server is

static bool read_version(struct api *api, struct audit_world *world, int *ret_minor, struct fault *fault) {
    struct api_answer answer;
    const struct text head = TEXT("\"gitVersion\"");
    if (!api_request(api, API_GET, "/version", (struct text){NULL, 0}, &answer, fault)) return false;
    if (!api_is_success(&answer)) return api_refusal(&answer, fault);
    const char *at = memmem(answer.body.ptr, answer.body.len, head.ptr, head.len);
    size_t from = at == NULL ? answer.body.len : (size_t)(at - answer.body.ptr) + head.len;
    from = text_find(answer.body, '"', from) + 1;
    struct text version = text_slice(answer.body, from, text_find(answer.body, '"', from));
    world->version = text_copy(&world->arena, version);
    return kube_version_parse(world->version, ret_minor, fault);
}

// kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1
static void take_gate(struct audit_world *world, struct text line) {
    const struct text head = TEXT("kubernetes_feature_enabled{name=\"");
    if (!text_starts_with(line, head)) return;
    struct text name = text_slice(line, head.len, text_find(line, '"', head.len));
    world->gates_told = true;
    if (!text_starts_with(name, TEXT("DRA")) && !text_equal(name, TEXT("DynamicResourceAllocation"))) return;
    struct audit_gate *gate = LIST_APPEND(&world->arena, &world->gates);
    if (gate == NULL) return;
    gate->name = text_copy(&world->arena, name);
    gate->enabled = text_ends_with(line, TEXT(" 1"));
}

// A server that keeps its metrics to itself does not tell its gates; that is no fault.
static void read_gates(struct api *api, struct audit_world *world) {
    struct api_answer answer;
    struct fault ignored;
    if (!api_request(api, API_GET, "/metrics", (struct text){NULL, 0}, &answer, &ignored) ||
        !api_is_success(&answer))
        return;
    for (size_t at = 0; at < answer.body.len;) {
        size_t end = text_find(answer.body, '\n', at);
        if (end - at < GATE_LINE_BYTES) take_gate(world, text_slice(answer.body, at, end));
        at = end + 1;
    }
}

static bool read_all(struct api *api, struct audit_world *world, const struct options *options,
                     struct fault *fault) {
    struct text wanted = text_of(options_text(options, OPTION_KUBERNETES_VERSION));
    int minor = 0;
    if (!read_version(api, world, &minor, fault)) return false;
    if (wanted.len > 0 && !kube_version_parse(wanted, &minor, fault)) return false;
    struct audit_world other;
    struct text version = world->version;
    if (!audit_world_init(&other, minor, fault)) {
        audit_world_release(&other);
        return false;
    }
    other.version = text_copy(&other.arena, version);
    other.online = true;
    audit_world_release(world);
    *world = other;
    read_gates(api, world);
    for (size_t i = 0; i < FEED_KIND_COUNT; i++)
        if (!read_kind(api, world, &feed_kinds[i], fault)) return false;
    return read_rights(api, world, fault);
}

bool audit_read_cluster(struct audit_world *world, const struct options *options, struct fault *fault) {
    struct kubeconfig config;
    struct api api;
    if (!cluster_config_load(options, &config, fault)) return false;
    bool fine = api_init(&api, &config, options_int(options, OPTION_REQUEST_TIMEOUT), fault) &&
                read_all(&api, world, options, fault);
    api_release(&api);
    return fine;
}
