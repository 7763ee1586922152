// SPDX-License-Identifier: Apache-2.0
// What the decoders of the kinds share. All of them read one value from a reader; null leaves the target
// untouched; errors are sticky in the reader (json_reader.h).
#ifndef DRAWBRIDGE_CODEC_DECODE_PARTS_H
#define DRAWBRIDGE_CODEC_DECODE_PARTS_H

#include "validators/core/json_reader.h"
#include "validators/model/object.h"

// decode_parts.c
void decode_opt_text(struct json_reader *reader, struct opt_text *ret);
void decode_opt_bool(struct json_reader *reader, struct opt_bool *ret);
void decode_opt_int64(struct json_reader *reader, struct opt_int64 *ret);
void decode_text_list(struct json_reader *reader, struct text_list *ret);
void decode_text_map(struct json_reader *reader, struct text_map *ret);
void decode_quantity_map(struct json_reader *reader, struct quantity_map *ret);
// A runtime.RawExtension: anything well-formed; null is absent.
void decode_raw(struct json_reader *reader, struct text *ret);
// A metav1.Time; what Go cannot parse is a finding.
void decode_time(struct json_reader *reader, struct text *ret);
// What it does: true when the field at hand does not exist in this minor or version; its value was then
// passed over.
bool decode_skip_foreign(struct json_reader *reader);
// What was written from `begin` up to here; empty unless it is an object in which nothing was noted, when
// noted_before is what json_noted told at its beginning.
struct text decode_clean_object(const struct json_reader *reader, const char *begin, size_t noted_before);

// decode_time.c
// What it does: true when Go's time.Parse(time.RFC3339, …) would take it.
// Source: go 1.26 src/time/format.go, parse; format_rfc3339.go.
bool decode_time_is_valid(struct text text);

// decode_meta.c
void decode_object_meta(struct json_reader *reader, struct object_meta *ret);

// decode_node_selector.c
// What it does: NULL for null.
const struct node_selector *decode_node_selector(struct json_reader *reader);

// decode_device.c
// like: devices of another slice of the same version, of which the list mostly repeats those at the same
// places; or NULL.
void decode_devices(struct json_reader *reader, const struct device_list *like, struct device_list *ret);
void decode_counter_map(struct json_reader *reader, struct counter_map *ret);

// decode_device_attributes.c
// before: the attributes of the device before, or NULL.
void decode_attributes(struct json_reader *reader, const struct device_attribute_map *before,
                       struct device_attribute_map *map);

// decode_node_allocatable.c
void decode_mappings_v136(struct json_reader *reader, struct node_allocatable_map *ret);
void decode_resources_v137(struct json_reader *reader, struct node_allocatable_map *ret);

// decode_device_request.c
void decode_device_selectors(struct json_reader *reader, struct device_selector_list *ret);
void decode_tolerations(struct json_reader *reader, struct device_toleration_list *ret);
void decode_device_requests(struct json_reader *reader, struct device_request_list *ret);

// decode_device_configuration.c
// Which of the three configurations: they differ in the fields that they have beside `opaque`.
enum configuration_kind { CONFIGURATION_OF_CLASS, CONFIGURATION_OF_CLAIM, CONFIGURATION_OF_ALLOCATION };
void decode_device_configurations(struct json_reader *reader, enum configuration_kind kind,
                                  struct device_configuration_list *ret);

// decode_claim_status.c
void decode_claim_status(struct json_reader *reader, struct resource_claim *claim);

// One file per kind.
void decode_resource_slice(struct json_reader *reader, struct object *ret);
void decode_resource_slice_like(struct json_reader *reader, const struct resource_slice *like,
                                struct object *ret);
void decode_resource_claim(struct json_reader *reader, struct object *ret);
void decode_resource_claim_template(struct json_reader *reader, struct object *ret);
void decode_device_class(struct json_reader *reader, struct object *ret);
void decode_role(struct json_reader *reader, struct object *ret);
void decode_role_binding(struct json_reader *reader, struct object *ret);

// Kinds that are followed, not judged: unknown fields are passed over in every mode.
void decode_pod(struct json_reader *reader, struct object *ret);
void decode_node(struct json_reader *reader, struct object *ret);
void decode_namespace(struct json_reader *reader, struct object *ret);
void decode_lease(struct json_reader *reader, struct object *ret);
void decode_device_taint_rule(struct json_reader *reader, struct object *ret);

// decode_policy.c: read strictly, because it is ours.
void decode_ledger_policy(struct json_reader *reader, struct object *ret);
void decode_node_ledger(struct json_reader *reader, struct object *ret);

// decode_pod_status.c
void decode_pod_status(struct json_reader *reader, struct pod *ret);
void decode_overhead(struct json_reader *reader, struct overhead_resource_list *ret);

#endif
