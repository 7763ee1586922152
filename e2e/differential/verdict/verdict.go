// SPDX-License-Identifier: Apache-2.0

// Package verdict says what a judge made of an object, and compares two judges.
package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Cause is one reason of a refusal.
type Cause struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`

	// Not part of the corpus: only a live server gives it per cause.
	Message string `json:"-"`
}

// Verdict is what a judge made of one object. The form is that of the corpus.
type Verdict struct {
	Allowed bool    `json:"allowed"`
	Code    int     `json:"code,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Causes  []Cause `json:"causes,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Line is one line of a corpus: an object, and the verdict of each minor.
type Line struct {
	ID string `json:"id"`
	// OldObject is what is stored, when the object is an update of it.
	OldObject json.RawMessage    `json:"oldObject,omitempty"`
	Object    json.RawMessage    `json:"object"`
	Verdict   map[string]Verdict `json:"verdict"`
}

// HasCEL tells whether some cause comes from compiling a CEL expression, which
// drawbridge does not do.
func (v Verdict) HasCEL() bool {
	return slices.ContainsFunc(v.Causes, v.isCEL)
}

// OnlyCEL tells whether the object was refused for CEL expressions alone.
func (v Verdict) OnlyCEL() bool {
	return len(v.Causes) > 0 && !slices.ContainsFunc(v.Causes, func(c Cause) bool { return !v.isCEL(c) })
}

// None tells whether the server failed inside and so judged nothing.
func (v Verdict) None() bool {
	return v.Code >= 500
}

func (v Verdict) isCEL(c Cause) bool {
	if !strings.HasSuffix(c.Field, "expression") {
		return false
	}
	text := c.Message
	if text == "" {
		text = v.Message
	}
	switch c.Reason {
	case "FieldValueInvalid":
		return strings.Contains(text, "compilation failed") || strings.Contains(text, "must evaluate to")
	case "FieldValueForbidden":
		return strings.Contains(text, "exceeds cost limit")
	}
	return false
}

// Set returns the (field, reason) pairs without CEL causes, sorted, each once.
func (v Verdict) Set() []string {
	var set []string
	for _, c := range v.Causes {
		if !v.isCEL(c) {
			set = append(set, c.Field+" "+c.Reason)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// Differ says how ours differs from the server's verdict; "" when it does not.
// The sets of causes are compared only where the server validated (422): while
// decoding it stops at what its decoder happens to meet.
func Differ(server, ours Verdict) string {
	if server.Allowed != ours.Allowed {
		return fmt.Sprintf("allowed: server %v (%d), ours %v", server.Allowed, server.Code, ours.Allowed)
	}
	if server.Code != 422 {
		return ""
	}
	want, have := server.Set(), ours.Set()
	var b strings.Builder
	for _, c := range want {
		if !slices.Contains(have, c) {
			fmt.Fprintf(&b, "only the server: %s\n", c)
		}
	}
	for _, c := range have {
		// Text that plainly is no expression we may refuse as the server does.
		sameCEL := func(cause Cause) bool { return server.isCEL(cause) && cause.Field+" "+cause.Reason == c }
		if !slices.Contains(want, c) && !slices.ContainsFunc(server.Causes, sameCEL) {
			fmt.Fprintf(&b, "only ours: %s\n", c)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
