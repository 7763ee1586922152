package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lists whose items are owned one by one, and the members that name an item.
var keyedLists = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "env": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"},
	"ports": {"containerPort", "protocol"}, "conditions": {"type"}, "ownerReferences": {"uid"}, "podIPs": {"ip"},
	"addresses": {"type"}, "reservedFor": {"uid"}, "resourceClaimStatuses": {"name"}, "resourceClaims": {"name"},
	"nodeAllocatableResourceClaimStatuses": {"resourceClaimName"},
}

// fieldSet is what the API server writes down for the owner of all fields of a value.
func fieldSet(value any) map[string]any {
	set := map[string]any{}
	members, ok := value.(map[string]any)
	if !ok {
		return set
	}
	for name, member := range members {
		items, isList := member.([]any)
		switch {
		case isList:
			set["f:"+name] = listSet(items, keyedLists[name])
		default:
			set["f:"+name] = fieldSet(member)
		}
	}
	return set
}

func listSet(items []any, keys []string) map[string]any {
	set := map[string]any{}
	for _, item := range items {
		members, ok := item.(map[string]any)
		if !ok || keys == nil {
			return map[string]any{}
		}
		key := map[string]any{}
		for _, name := range keys {
			key[name] = members[name]
		}
		text, _ := json.Marshal(key)
		owned := fieldSet(item)
		owned["."] = map[string]any{}
		set["."] = map[string]any{}
		set["k:"+string(text)] = owned
	}
	return set
}

// manager makes managedFields as the API server keeps them: an entry for who made the object, one for who writes
// its status. Objects that are alike have the same fields; only the words differ by which items of lists are told
// apart, so the fields are made once for each kind of object.
type manager struct {
	apiVersion, maker, reporter string
	mutex                       sync.Mutex
	known                       map[string]known
}

type known struct {
	words                []string
	madeText, statusText string
}

func newManager(apiVersion, maker, reporter string) *manager {
	return &manager{apiVersion: apiVersion, maker: maker, reporter: reporter, known: map[string]known{}}
}

func (m *manager) learn(object metav1.Object, words []string) (known, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return known{}, err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return known{}, err
	}
	made := map[string]any{}
	if metadata, ok := whole["metadata"].(map[string]any); ok {
		owned := map[string]any{}
		for _, name := range []string{"labels", "annotations", "generateName", "ownerReferences", "finalizers"} {
			if value, there := metadata[name]; there {
				owned[name] = value
			}
		}
		made["metadata"] = owned
	}
	for name, value := range whole {
		if name != "metadata" && name != "status" && name != "kind" && name != "apiVersion" {
			made[name] = value
		}
	}
	learnt := known{words: words}
	fields, err := json.Marshal(fieldSet(made))
	if err != nil {
		return known{}, fmt.Errorf("managed fields: %w", err)
	}
	learnt.madeText = string(fields)
	if status, ok := whole["status"].(map[string]any); ok && len(status) > 0 && m.reporter != "" {
		if fields, err = json.Marshal(fieldSet(map[string]any{"status": status})); err != nil {
			return known{}, fmt.Errorf("managed fields: %w", err)
		}
		learnt.statusText = string(fields)
	}
	return learnt, nil
}

// manage adds the fields to an object of a kind of objects; words are what differs within it.
func (m *manager) manage(object metav1.Object, kind string, words ...string) error {
	m.mutex.Lock()
	learnt, there := m.known[kind]
	if !there {
		var err error
		if learnt, err = m.learn(object, words); err != nil {
			m.mutex.Unlock()
			return err
		}
		m.known[kind] = learnt
	}
	m.mutex.Unlock()
	pairs := []string{}
	for i, word := range words {
		pairs = append(pairs, learnt.words[i], word)
	}
	replace := strings.NewReplacer(pairs...)
	at := metav1.NewTime(time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC))
	entries := []metav1.ManagedFieldsEntry{{Manager: m.maker, Operation: "Update", APIVersion: m.apiVersion, Time: &at, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(replace.Replace(learnt.madeText))}}}
	if learnt.statusText != "" {
		entries = append(entries, metav1.ManagedFieldsEntry{Manager: m.reporter, Operation: "Update", APIVersion: m.apiVersion, Time: &at,
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(replace.Replace(learnt.statusText))}, Subresource: "status"})
	}
	object.SetManagedFields(entries)
	return nil
}
