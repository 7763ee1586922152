// SPDX-License-Identifier: Apache-2.0

// Package kube asks a live API server what it makes of an object, without
// storing it.
package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"drawbridge.dev/e2e/differential/verdict"
)

// Server is a connection to an API server. Many goroutines may use it.
type Server struct {
	Minor string

	base   string
	token  string
	client *http.Client
}

// Connect returns the server that e2e/cluster runs as oracle for this minor. When
// none runs, it starts one that ends by itself, and stop ends it before that.
func Connect(minor string) (s *Server, stop func(), err error) {
	program, err := clusterProgram()
	if err != nil {
		return nil, nil, err
	}
	stop = func() {}
	env, err := run(program, "env", "--oracle", "--kubernetes-version", minor)
	if err != nil {
		env, err = run(program, "up", "--oracle", "--kubernetes-version", minor)
		if err != nil {
			return nil, nil, err
		}
		stop = func() {
			if _, err := run(program, "down", "--oracle", "--kubernetes-version", minor); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	s, err = fromEnv(minor, env)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return s, stop, nil
}

// clusterProgram finds e2e/cluster in the repository that holds the working
// folder.
func clusterProgram() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		program := filepath.Join(folder, "e2e", "cluster")
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
			return program, nil
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("e2e/cluster not found above the working folder")
		}
		folder = filepath.Dir(folder)
	}
}

func run(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, errors.String())
	}
	return string(out), nil
}

func fromEnv(minor, env string) (*Server, error) {
	values := map[string]string{}
	for line := range strings.Lines(env) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); ok {
			values[name] = value
		}
	}
	token, err := os.ReadFile(values["DRAWBRIDGE_KUBE_TOKEN_FILE"])
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(values["DRAWBRIDGE_KUBE_CA_FILE"])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &Server{
		Minor: minor,
		base:  values["DRAWBRIDGE_KUBE_SERVER"],
		token: strings.TrimSpace(string(token)),
		client: &http.Client{
			Timeout:   60 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true},
		},
	}, nil
}

// status is what the server answers when it refuses.
type status struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		Causes []struct {
			Reason  string `json:"reason"`
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"causes"`
	} `json:"details"`
}

// Judge posts the object with dry run and strict field validation.
func (s *Server) Judge(ctx context.Context, object []byte) (verdict.Verdict, error) {
	path, err := collection(object)
	if err != nil {
		return verdict.Verdict{}, err
	}
	code, body, err := s.do(ctx, http.MethodPost, path+"?dryRun=All&fieldValidation=Strict", object)
	if err != nil {
		return verdict.Verdict{}, err
	}
	if code == http.StatusCreated {
		return verdict.Verdict{Allowed: true}, nil
	}
	return refusal(code, body)
}

// Some objects make an API server panic, for example a requestPolicy with step 0
// in v1.36.3. It goes on serving, but such a request gets no answer.
const panicked = `{"code":500,"reason":"InternalError","message":"the API server panicked and ended the request"}`

// do sends one request. A server that is too busy is asked again.
func (s *Server) do(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	for try := 0; ; try++ {
		request, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
		if err != nil {
			return 0, nil, err
		}
		request.Header.Set("Authorization", "Bearer "+s.token)
		request.Header.Set("Content-Type", "application/json")
		response, err := s.client.Do(request)
		if err != nil {
			// A handler that panics ends the stream in this way.
			if strings.Contains(err.Error(), "INTERNAL_ERROR") {
				return http.StatusInternalServerError, []byte(panicked), nil
			}
			return 0, nil, err
		}
		answer, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
		response.Body.Close()
		if err != nil {
			return 0, nil, err
		}
		if response.StatusCode != http.StatusTooManyRequests || try == 20 {
			return response.StatusCode, answer, nil
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// refusal reads a Status. Only what may come of the object itself is a verdict.
func refusal(code int, body []byte) (verdict.Verdict, error) {
	var st status
	if err := json.Unmarshal(body, &st); err != nil {
		return verdict.Verdict{}, fmt.Errorf("HTTP %d: %.300s", code, body)
	}
	switch code {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusForbidden, http.StatusInternalServerError, http.StatusRequestEntityTooLarge:
	default:
		return verdict.Verdict{}, fmt.Errorf("HTTP %d: %.300s", code, body)
	}
	v := verdict.Verdict{Code: code, Reason: st.Reason, Message: st.Message}
	for _, c := range st.Details.Causes {
		v.Causes = append(v.Causes, verdict.Cause{Field: c.Field, Reason: c.Reason, Message: c.Message})
	}
	return v, nil
}

var plurals = map[string]string{
	"ResourceSlice":         "resourceslices",
	"DeviceClass":           "deviceclasses",
	"ResourceClaim":         "namespaces/default/resourceclaims",
	"ResourceClaimTemplate": "namespaces/default/resourceclaimtemplates",
}

// collection returns the path that an object is posted to.
func collection(object []byte) (string, error) {
	// What follows the two names may be anything, even no JSON.
	text := string(object[:min(len(object), 200)])
	apiVersion, kind := member(text, "apiVersion"), member(text, "kind")
	plural, known := plurals[kind]
	if !known {
		return "", fmt.Errorf("kind %q is not one that is compared", kind)
	}
	return "/apis/" + apiVersion + "/" + plural, nil
}

// member returns the text of the first member of that name, written `"name":"text"`.
func member(text, name string) string {
	_, after, _ := strings.Cut(text, `"`+name+`":"`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

// JudgeAll judges all objects, a few at a time, and returns the verdicts in
// the order of the objects.
func (s *Server) JudgeAll(ctx context.Context, objects [][]byte) ([]verdict.Verdict, error) {
	const atATime = 4
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	verdicts := make([]verdict.Verdict, len(objects))
	next := make(chan int)
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for i := range next {
				v, err := s.Judge(ctx, objects[i])
				if err != nil {
					cancel(fmt.Errorf("object %d: %w\n%.2000s", i, err, objects[i]))
					continue
				}
				verdicts[i] = v
			}
		})
	}
	for i := range objects {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	return verdicts, context.Cause(ctx)
}

// JudgeUpdate stores the object, asks what the server makes of the update, and
// removes the object. It returns the object as stored; nil when the server did
// not take it or found the update to be of another object.
func (s *Server) JudgeUpdate(ctx context.Context, name string, object, update []byte) (stored []byte, v verdict.Verdict, err error) {
	path, err := collection(object)
	if err != nil {
		return nil, v, err
	}
	code, stored, err := s.do(ctx, http.MethodPost, path+"?fieldValidation=Strict", object)
	if err != nil || code != http.StatusCreated {
		return nil, v, err
	}
	code, body, err := s.do(ctx, http.MethodPut, path+"/"+name+"?dryRun=All&fieldValidation=Strict", update)
	conflict := code == http.StatusConflict // the update names another uid or version
	switch {
	case err != nil || conflict:
	case code == http.StatusOK:
		v = verdict.Verdict{Allowed: true}
	default:
		v, err = refusal(code, body)
	}
	code, body, deleteErr := s.do(ctx, http.MethodDelete, path+"/"+name, []byte(`{"gracePeriodSeconds":0}`))
	if deleteErr != nil || code != http.StatusOK {
		return nil, v, fmt.Errorf("delete %s: HTTP %d %.300s %w", name, code, body, deleteErr)
	}
	if conflict {
		stored = nil
	}
	return stored, v, err
}
