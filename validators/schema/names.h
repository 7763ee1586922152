// SPDX-License-Identifier: Apache-2.0
// The forms of names that Kubernetes knows: labels, subdomains, identifiers, label keys and values, and the
// few that dynamic resource allocation adds. Lengths count bytes, as upstream does.
#ifndef DRAWBRIDGE_SCHEMA_NAMES_H
#define DRAWBRIDGE_SCHEMA_NAMES_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/core/text.h"

#define DNS1123_LABEL_MAX_BYTES     63u
#define DNS1123_SUBDOMAIN_MAX_BYTES 253u
#define LABEL_VALUE_MAX_BYTES       63u
#define LABEL_KEY_NAME_MAX_BYTES    63u
#define DRIVER_NAME_MAX_BYTES       63u
#define POOL_NAME_MAX_BYTES         253u
#define C_IDENTIFIER_MAX_BYTES      32u // of attribute and capacity names

// What they do: tell why a text is not of this form. Return NULL when it is, else static text for a finding's
// detail. Too long is one of the reasons: upstream reports it as Invalid.
// Source: k8s.io/apimachinery v0.36.3 pkg/api/validate/content/{dns,identifier,kube}.go.
const char *why_not_dns1123_label(struct text text);
const char *why_not_dns1123_subdomain(struct text text);
// Whatever case. Go's regular expression also folds U+017F (long s) and U+212A (Kelvin) into s and k.
const char *why_not_dns1123_subdomain_caseless(struct text text);
// A subdomain once Go has lowered it, which makes i of U+0130 and k of U+212A.
const char *why_not_dns1123_subdomain_lowered(struct text text);
// The form alone; the length is a finding of its own (TooLong).
const char *why_not_c_identifier(struct text text);
// An optional subdomain and a slash, then a name: "example.com/key". Upstream also says "qualified name".
const char *why_not_label_key(struct text text);
// As a label key, with the domain required. v1.37.
const char *why_not_prefixed_label_key(struct text text);
const char *why_not_label_value(struct text text);

// What it does: why a text is not a UUID of 8-4-4-4-12 lowercase hexadecimal digits, or NULL.
// Source: k8s.io/apimachinery v0.36.3 pkg/api/validate/strfmt.go, UUID.
const char *why_not_uuid(struct text text);

// What it does: why a text cannot stand in the path of a URL, or NULL. As a prefix it may be "." or "..".
// Source: k8s.io/apimachinery v0.36.3 pkg/api/validate/content/path.go.
const char *why_not_path_segment(struct text text, bool prefix);

// What it does: why a text is not the name of an extended resource, or NULL: domain and name, not of
// kubernetes.io, not "requests.…", and a label key when "requests." stands before it.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName.
const char *why_not_extended_resource(struct text text);

// What it does: true for a resource without a domain, or whose name holds "kubernetes.io/".
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/core/v1/helper/helpers.go, IsNativeResource.
bool name_is_native_resource(struct text text);

// What it does: true when schema_fully_qualified_name would find nothing by hand.
bool name_is_fully_qualified(struct text name);

// What it does: one Invalid finding when why is not NULL. Returns true when there was nothing to say.
bool schema_form(const char *why, struct text value, const struct path *path, struct finding_list *findings);

// What it does: a driver's name. Required, TooLong, Invalid. `declared` is true where the declarative rules
// speak too (some fields in v1.37): they fold case in another way.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/core/validation/validation.go, ValidateCSIDriverName.
void schema_driver_name(struct text name, bool declared, const struct path *path,
                        struct finding_list *findings);

// What it does: a pool's name: subdomains between slashes. Required, TooLong, Invalid.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go, validatePoolName.
void schema_pool_name(struct text name, const struct path *path, struct finding_list *findings);

// What it does: [domain/]identifier, the name of an attribute or a capacity. TooLong, Invalid. More than one
// slash is let through, as upstream does.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go, validateQualifiedName.
void schema_qualified_name(struct text name, const struct path *path, struct finding_list *findings);

// What it does: domain/identifier. TooLong, Invalid. `declared` as above: then the domain must be lowercase.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go, validateFullyQualifiedName;
// k8s.io/apimachinery v0.37.2 pkg/api/validate/strfmt.go, ResourceFullyQualifiedName.
void schema_fully_qualified_name(struct text name, bool declared, const struct path *path,
                                 struct finding_list *findings);

#endif
