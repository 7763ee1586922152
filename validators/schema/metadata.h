// SPDX-License-Identifier: Apache-2.0
// Object metadata: what the API server checks of every object, whatever its kind.
// Source: k8s.io/apimachinery v0.36.3 and v0.37.2 pkg/api/validation/objectmeta.go.
#ifndef DRAWBRIDGE_SCHEMA_METADATA_H
#define DRAWBRIDGE_SCHEMA_METADATA_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/model/meta.h"

// What it does: appends a finding at path when text is no name that the kind allows. With prefix set it is
// the beginning of a name (generateName), to which the server will add characters of its own.
// (An alias of a function type, so that kinds can hand over their rule.)
typedef void schema_name_check(struct text text, bool prefix, const struct path *path,
                               struct finding_list *findings);

// Names of most kinds: at most 253 bytes, parts of lower case letters, digits and '-' between dots.
// Source: pkg/api/validation/generic.go, NameIsDNSSubdomain.
schema_name_check schema_name_subdomain;

// What it does: checks the metadata of an object that is to be created, and of an update before it is
// compared with the old object. A missing namespace is taken from the request, so it is no error here. path
// is that of the metadata; NULL stands for "metadata".
void schema_object_meta(const struct object_meta *meta, bool namespaced, schema_name_check *name_check,
                        int minor, const struct path *path, struct finding_list *findings);

// What it does: checks what an update may do to the metadata. Absent resourceVersion: the server fills it in
// for kinds that allow unconditional updates, so it is no error here.
// Source: pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate.
void schema_object_meta_update(const struct object_meta *meta, const struct object_meta *old,
                               const struct path *path, struct finding_list *findings);

// What it does: checks labels and annotations, the only metadata that a template may have. Returns true when
// it has no other. Source: kubernetes v1.36.3 pkg/apis/core/validation/validation.go,
// ValidateTemplateObjectMeta.
bool schema_template_meta(const struct object_meta *meta, const struct path *path,
                          struct finding_list *findings);

#endif
