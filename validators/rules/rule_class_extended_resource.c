// SPDX-License-Identifier: Apache-2.0
// class-extended-resource: a DeviceClass offers devices with mappings as an extended resource.
//
// Pods that ask for the extended resource name no claim; the scheduler makes one for them. With devices that
// take of their node such Pods never run: 1.36 says that no container references the claim, 1.37 makes and
// deletes a claim with every try.
//
// Wrong: spec.extendedResourceName: example.com/gpu, over devices of a driver that publishes mappings.
// Right: leave extendedResourceName out and let Pods name their claims, or publish these devices without
// mappings.
//
// Reads: spec.extendedResourceName, spec.selectors, metadata.labels[drawbridge.dev/driver]; the live slices
// of the driver.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 and v1.37.2 pkg/scheduler/framework/plugins/dynamicresources/
// extendeddynamicresources.go, nodeallocatabledynamicresources.go.
#include "validators/model/device_class.h"
#include "validators/rules/rule.h"

void rule_class_extended_resource(const struct rule_input *input, struct finding_list *findings) {
    const struct device_class *class = &input->object->device_class;
    if (!class->extended_resource_name.set || class->extended_resource_name.value.len == 0) return;
    struct text driver = device_class_driver(class);
    bool mapped = false;
    if (driver.len == 0) return;
    if (VIEW_ASK(input->view, driver_is_mapped, driver, &mapped) != VIEW_KNOWN || !mapped) return;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path path = path_field(&spec, TEXT("extendedResourceName"));
    struct finding *finding = finding_addf(
        findings, FINDING_INVALID, &path, class->extended_resource_name.value,
        "devices of driver %.*s have mappings, and Pods that ask for them by an extended resource never run",
        TEXT_ARG(driver));
    finding_hint(finding, TEXT("leave it out and let Pods name their claims"));
}
