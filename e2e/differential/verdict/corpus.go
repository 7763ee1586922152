// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// ReadCorpus reads the lines of a corpus.
func ReadCorpus(file string) ([]Line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []Line
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var line Line
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, len(lines)+1, err)
		}
		lines = append(lines, line)
	}
	return lines, scanner.Err()
}

// WriteCorpus writes the lines. Objects are written byte for byte.
func WriteCorpus(to io.Writer, lines []Line) error {
	w := bufio.NewWriter(to)
	for _, line := range lines {
		object := line.Object
		line.Object = json.RawMessage("0")
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(line); err != nil {
			return err
		}
		before, after, _ := bytes.Cut(text.Bytes(), []byte(`"object":0`))
		for _, part := range [][]byte{before, []byte(`"object":`), object, after} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
