package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// streamOf is a stream over items that are in memory.
func streamOf[T any](items ...T) stream[T] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

type innerDocument[L any] struct {
	Name  text   `json:"name"`
	Inner L      `json:"inner"`
	Null  *text  `json:"null"`
	Size  number `json:"size"`
}

type outerDocument[L any] struct {
	Schema int            `json:"schema"`
	Map    map[string]int `json:"map"`
	Outer  L              `json:"outer"`
	Empty  []string       `json:"empty"`

	hidden int
}

// TestStreamBytes: a document with streams has the bytes that json.Encoder gives
// for the same document with slices.
func TestStreamBytes(t *testing.T) {
	odd := text("<a> & \x01\"\xed\xa0\x80\u00e9")
	slices := outerDocument[[]innerDocument[[]jsonDamage]]{1, map[string]int{"b": 1, "a": 2}, []innerDocument[[]jsonDamage]{
		{odd, []jsonDamage{}, nil, 7},
		{"second", []jsonDamage{{Offset: 3, Path: "p"}, {}}, &odd, -1},
	}, []string{}, 0}
	streams := outerDocument[stream[innerDocument[stream[jsonDamage]]]]{1, map[string]int{"b": 1, "a": 2}, streamOf(
		innerDocument[stream[jsonDamage]]{odd, nil, nil, 7},
		innerDocument[stream[jsonDamage]]{"second", streamOf(jsonDamage{Offset: 3, Path: "p"}, jsonDamage{}), &odd, -1},
	), []string{}, 0}

	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(slices); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	p := &program{out: &got}
	if err := p.writeJSON(&streams); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want.String())
	}
}

// TestStreamError: an error of a stream ends the document and is told.
func TestStreamError(t *testing.T) {
	broken := errors.New("broken")
	items := stream[text](func(yield func(text, error) bool) {
		if yield("first", nil) {
			yield("", broken)
		}
	})
	var got bytes.Buffer
	p := &program{out: &got}
	err := p.writeJSON(outerDocument[stream[text]]{Outer: items})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if !strings.Contains(got.String(), `"first"`) || json.Valid(got.Bytes()) {
		t.Errorf("got %s", got.String())
	}
}
