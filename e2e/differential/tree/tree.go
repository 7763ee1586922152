// SPDX-License-Identifier: Apache-2.0

// Package tree holds JSON documents as ordered trees. Unlike Go's maps they
// keep the order of fields, may hold one field twice, and may hold a token
// that no Go type could: an oracle needs to send what people can send.
package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Raw is one JSON token, or any JSON text, that is written as it stands.
type Raw string

// Field is one member of an Object.
type Field struct {
	Name  string
	Value any
}

// Object is a JSON object. Values are *Object, *Array, string, int, bool, Raw
// or nil (null).
type Object struct {
	Fields []Field
}

// Array is a JSON array.
type Array struct {
	Items []any
}

// Map returns an object of name, value, name, value, …
func Map(pairs ...any) *Object {
	o := &Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// List returns an array of the items.
func List(items ...any) *Array {
	return &Array{Items: items}
}

// Set replaces the first field of that name, or appends one.
func (o *Object) Set(name string, value any) {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			o.Fields[i].Value = value
			return
		}
	}
	o.Fields = append(o.Fields, Field{name, value})
}

// Get returns the value of the first field of that name, or nil.
func (o *Object) Get(name string) any {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return o.Fields[i].Value
		}
	}
	return nil
}

// Object returns the value of that name when it is an object, else nil.
func (o *Object) Object(name string) *Object {
	child, _ := o.Get(name).(*Object)
	return child
}

// Clone returns a copy that shares nothing.
func Clone(v any) any {
	switch v := v.(type) {
	case *Object:
		o := &Object{Fields: make([]Field, len(v.Fields))}
		for i, f := range v.Fields {
			o.Fields[i] = Field{f.Name, Clone(f.Value)}
		}
		return o
	case *Array:
		a := &Array{Items: make([]any, len(v.Items))}
		for i, item := range v.Items {
			a.Items[i] = Clone(item)
		}
		return a
	}
	return v
}

// Encode writes the tree as JSON text on one line.
func Encode(v any) []byte {
	var b bytes.Buffer
	encode(&b, v)
	return b.Bytes()
}

func encode(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case *Object:
		b.WriteByte('{')
		for i, f := range v.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			encodeText(b, f.Name)
			b.WriteByte(':')
			encode(b, f.Value)
		}
		b.WriteByte('}')
	case *Array:
		b.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			encode(b, item)
		}
		b.WriteByte(']')
	case Raw:
		b.WriteString(string(v))
	case string:
		encodeText(b, v)
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprintf(b, "%v", v)
	}
}

func encodeText(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	// A string always encodes; the encoder ends it with a line feed.
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	b.Truncate(b.Len() - 1)
}
