// SPDX-License-Identifier: Apache-2.0

// Package oracle compares drawbridge's readers with the Go libraries that kubectl and the API server use.
package oracle

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is a C program of the folder program; it answers one document after the other.
type program struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startProgram compiles program/NAME.c below ASan and UBSan, with the sources that the patterns match, and starts it.
func startProgram(t *testing.T, name string, patterns, libraries []string) *program {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	arguments := []string{"-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-I" + root, "-o", path, filepath.Join(root, "e2e/oracle/program", name+".c")}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file matches %s", pattern)
		}
		arguments = append(arguments, files...)
	}
	if out, err := exec.Command("cc", append(arguments, libraries...)...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
	return &program{in, bufio.NewReader(out)}
}

// exchange sends the length of a document, what goes before it and the document, and reads an answer of so many bytes
// before its own length.
func (p *program) exchange(t *testing.T, before, document []byte, answerHead int) (head, answer []byte) {
	t.Helper()
	message := binary.LittleEndian.AppendUint32(nil, uint32(len(document)))
	if _, err := p.in.Write(append(append(message, before...), document...)); err != nil {
		t.Fatalf("the program is gone; document: %q", document)
	}
	head = make([]byte, answerHead+4)
	if _, err := io.ReadFull(p.out, head); err != nil {
		t.Fatalf("the program is gone; document: %q", document)
	}
	answer = make([]byte, binary.LittleEndian.Uint32(head[answerHead:]))
	if _, err := io.ReadFull(p.out, answer); err != nil {
		t.Fatalf("the program is gone; document: %q", document)
	}
	return head[:answerHead], answer
}
