// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Footprint is what a device takes of one resource of its node, in words that serve both minors.
type Footprint struct {
	Fixed        string // quantity for each allocation
	CapacityKey  string // or: what was consumed of this capacity,
	Multiplier   string // times this, when set
	PerPod       string // 1.37 only
	PerContainer string // 1.37 only
}

// Add adds quantities of one list to another.
func Add(to, list corev1.ResourceList) {
	for name, quantity := range list {
		sum := to[name]
		sum.Add(quantity)
		to[name] = sum
	}
}

func product(quantity, multiplier resource.Quantity) resource.Quantity {
	a, b := quantity.DeepCopy(), multiplier.DeepCopy()
	dec := a.AsDec()
	dec.Mul(dec, b.AsDec())
	return *resource.NewDecimalQuantity(*dec, quantity.Format)
}

func parsed(text string) *resource.Quantity {
	quantity := resource.MustParse(text)
	return &quantity
}
