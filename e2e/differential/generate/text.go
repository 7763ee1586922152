// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"bytes"
	"fmt"

	"drawbridge.dev/e2e/differential/tree"
)

// NextText returns an object as Next does, as JSON text. One in ten is written
// in an unusual way: escaped letters, blanks, bytes that are not UTF-8.
func (g *Generator) NextText(kind, version string) []byte {
	text := tree.Encode(g.Next(kind, version))
	if g.chance(10) {
		text = g.respell(text)
	}
	return text
}

// respell changes how the text is written. It stays JSON, but the last three
// change what the text holds.
func (g *Generator) respell(text []byte) []byte {
	at := g.lettersOf(text)
	if at < 0 {
		return text
	}
	var instead []byte
	switch g.r.IntN(7) {
	case 0, 1:
		instead = fmt.Appendf(nil, `\u%04x`, text[at])
	case 2:
		instead = fmt.Appendf(nil, `\u%04X`, text[at])
	case 3:
		// Behind the string that holds the letter.
		end := at
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end++
		return splice(text, end, 0, []byte(pick(g, " ", "\n", "\t", "\r\n", "  ")))
	case 4:
		instead = pick(g, []byte{0xff}, []byte{0xc3}, []byte{0xed, 0xa0, 0x80}, []byte{0xc0, 0x80}, []byte{0xf4, 0x90, 0x80, 0x80})
	case 5:
		instead = []byte(pick(g, `\ud800`, `\udc00`, `\ud800\ud800`, `\ud83d\ude00`, `\ud800\u0061`))
	default:
		instead = []byte(pick(g, `\u0000`, `\n`, `\"`, `\\`, `\/`, `\b`, "\u007f", "\u2028"))
	}
	return splice(text, at, 1, instead)
}

// lettersOf returns the place of a letter in some string, often a key; the
// first two strings say what the object is and stay as they are.
func (g *Generator) lettersOf(text []byte) int {
	start := bytes.Index(text, []byte(`"metadata"`))
	if start < 0 {
		return -1
	}
	for range 200 {
		i := start + g.r.IntN(len(text)-start)
		before, after := text[i-1], text[min(i+1, len(text)-1)]
		if isLetter(text[i]) && (isLetter(before) || before == '"') && (isLetter(after) || after == '"') && insideString(text, i) {
			return i
		}
	}
	return -1
}

// insideString tells whether the byte is part of a string. Escapes are no
// matter here: letters next to letters are looked for.
func insideString(text []byte, at int) bool {
	inside := false
	for i := 0; i < at; i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"':
			inside = !inside
		}
	}
	return inside
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func splice(text []byte, at, drop int, instead []byte) []byte {
	out := append([]byte{}, text[:at]...)
	out = append(out, instead...)
	return append(out, text[at+drop:]...)
}

// Malformed returns text that is neither a JSON object nor YAML, made of a valid
// one. Files that are YAML, such as JSON with a comma too many, are read as kubectl
// reads them, so they would be no test.
func (g *Generator) Malformed(kind, version string) []byte {
	text := tree.Encode(g.Valid(kind, version))
	start := bytes.Index(text, []byte(`"metadata"`))
	at := start + g.r.IntN(len(text)-start)
	switch g.r.IntN(7) {
	case 0, 1:
		return text[:at]
	case 2:
		return append(text, pick(g, "}", "]", "x", ",", "\x00")...)
	case 3:
		return splice(text, len(text)-1, 0, []byte(pick(g, `,"x":01`, `,"x":+1`, `,"x":1.`, `,"x":.5`, `,"x":1e`, `,"x":NaN`, `,"x":'a'`, `,"x":tru`, `,"x":0x1`, `,"x":-`)))
	case 4:
		return splice(text, len(text)-1, 0, []byte(pick(g, `,"x":"\x"`, `,"x":"\u12"`, `,"x":"`+"\n"+`"`, `,"x":"`+"\x01"+`"`, `,"x"`, `,"x":`, `,x:1`, `,1:1`, `,"x":"a`)))
	case 5:
		return splice(text, len(text)-1, 0, []byte(pick(g, `/* c */`, "// c\n", `# c`)))
	case 6:
		return splice(text, len(text)-1, 1, []byte(pick(g, "]", "", "}}")))
	}
	return append([]byte(pick(g, "x", "[", "\x00", ")]}'")), text...)
}
