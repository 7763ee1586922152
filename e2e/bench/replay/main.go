// Command replay is an API server for the scale benchmark: it serves the lists of a made-up cluster and a flow of
// changes, as bytes that were made before, so that the client is what is measured.
//
//	replay -cert FILE -key FILE -port-file FILE [-nodes N] [-pods N] [-claims N] [-devices N] [-pages] [-reviews FILE] [-seconds N]
//
// Lists come streamed (sendInitialEvents) or, with -pages, in pages only. What it serves is JSON. It listens on
// 127.0.0.1 and ends by itself after -seconds.
//
//	POST /control/flow {"rate": N, "pods": P, "claims": C, "slices": S}   N changes a second, shares in percent; -1: as many as are taken
//	GET  /control/state {"RESOURCE": {"objects": N, "bytes": N, "events": N}}
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var streamed bool

func refuse(out http.ResponseWriter, code int, reason, message string) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(code)
	_ = json.NewEncoder(out).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code),
		Reason: metav1.StatusReason(reason), Message: message})
}

func (t *resourceTable) kindOf() (kind, apiVersion string) {
	var head struct{ Kind, APIVersion string }
	_ = json.Unmarshal([]byte(strings.TrimSuffix(t.head, ",")+"}"), &head)
	return head.Kind, head.APIVersion
}

type server struct {
	tables map[string]*resourceTable // by path
	flow   *flow
}

func (s *server) add(path, resource, kind, apiVersion string, count int, make_ func(i int) (any, error)) *resourceTable {
	table, err := newTable(resource, kind, apiVersion, count, make_)
	if err != nil {
		log.Fatal(err)
	}
	s.tables[path] = table
	return table
}

// plain is for objects that differ in nothing that their managed fields tell.
func plain[T metav1.Object](m *manager, make_ func(i int) T) func(i int) (any, error) {
	return func(i int) (any, error) {
		object := make_(i)
		return object, m.manage(object, "", owners(object)...)
	}
}

func owners(object metav1.Object) []string {
	words := []string{}
	for _, owner := range object.GetOwnerReferences() {
		words = append(words, string(owner.UID))
	}
	return words
}

func newServer(c cluster) *server {
	const dra, maker = "resource.k8s.io/v1", "kube-controller-manager"
	s := &server{tables: map[string]*resourceTable{}}
	s.add("/api/v1/nodes", "nodes", "Node", "v1", c.nodes, plain(newManager("v1", "kubelet", "kubelet"), c.node))
	s.add("/api/v1/namespaces", "namespaces", "Namespace", "v1", namespaces, plain(newManager("v1", "kubectl", ""), c.namespace))
	leases := s.add("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "leases", "Lease", "coordination.k8s.io/v1", c.nodes,
		plain(newManager("coordination.k8s.io/v1", "kubelet", ""), c.lease))
	s.add("/apis/"+dra+"/deviceclasses", "deviceclasses", "DeviceClass", dra, 1, func(int) (any, error) { return c.class(), nil })
	s.add("/apis/"+dra+"/resourceclaimtemplates", "resourceclaimtemplates", "ResourceClaimTemplate", dra, templates, plain(newManager(dra, "kubectl", ""), c.template))
	s.add("/apis/"+dra+"/devicetaintrules", "devicetaintrules", "DeviceTaintRule", dra, 0, nil)
	slices := s.add("/apis/"+dra+"/resourceslices", "resourceslices", "ResourceSlice", dra, c.nodes, plain(newManager(dra, "gpu-kubelet-plugin", ""), c.slice))
	podManager := newManager("v1", maker, "kubelet")
	pods := s.add("/api/v1/pods", "pods", "Pod", "v1", c.pods, func(i int) (any, error) {
		pod := c.pod(i)
		words := append(owners(pod), c.claimName(i), `ip\":\"`+pod.Status.PodIP)
		return pod, podManager.manage(pod, fmt.Sprint(i < c.claims, pod.Spec.NodeName == ""), words...)
	})
	claims := s.add("/apis/"+dra+"/resourceclaims", "resourceclaims", "ResourceClaim", dra, c.claims, func(i int) (any, error) {
		return c.managedClaim(i, c.stateOf(i) == settled)
	})
	others, err := makeAll(c.claims, func(i int) (any, error) {
		if c.stateOf(i) != churning {
			return nil, nil
		}
		return c.managedClaim(i, true)
	})
	if err != nil {
		log.Fatal(err)
	}
	claims.others = others
	s.flow = newFlow(c, pods, claims, slices)
	go s.flow.run()
	for i := range leases.objects {
		leases.change(i, time.Now())
	}
	go renew(leases)
	return s
}

func (s *server) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	table := s.tables[request.URL.Path]
	watch := request.URL.Query().Get("watch")
	switch {
	case request.URL.Path == "/version":
		fmt.Fprint(out, `{"major":"1","minor":"37","gitVersion":"v1.37.2"}`)
	case request.URL.Path == "/control/flow":
		var o order
		if err := json.NewDecoder(request.Body).Decode(&o); err != nil {
			refuse(out, http.StatusBadRequest, "BadRequest", err.Error())
			return
		}
		s.flow.set(o)
	case request.URL.Path == "/control/state":
		s.state(out)
	case request.Method != http.MethodGet:
		refuse(out, http.StatusForbidden, "Forbidden", "nothing is written here")
	case table == nil:
		refuse(out, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	case watch == "1" || watch == "true":
		table.watch(out, request)
	default:
		table.list(out, request)
	}
}

func (s *server) state(out http.ResponseWriter) {
	type numbers struct {
		Objects int   `json:"objects"`
		Bytes   int   `json:"bytes"`
		Events  int64 `json:"events"`
	}
	all := map[string]numbers{}
	for _, table := range s.tables {
		n := numbers{Objects: len(table.objects), Events: table.sent.Load()}
		for _, object := range table.objects {
			n.Bytes += len(object.json)
		}
		all[table.name] = n
	}
	_ = json.NewEncoder(out).Encode(all)
}

func main() {
	c := cluster{}
	cert := flag.String("cert", "", "serving certificate")
	key := flag.String("key", "", "its private key")
	portFile := flag.String("port-file", "", "where the port is written once all is made")
	reviews := flag.String("reviews", "", "file of admission reviews to write, one a line")
	seconds := flag.Int("seconds", 900, "when to end")
	pages := flag.Bool("pages", false, "lists come in pages only")
	flag.IntVar(&c.nodes, "nodes", 5000, "nodes, each with one slice")
	flag.IntVar(&c.pods, "pods", 50000, "Pods")
	flag.IntVar(&c.claims, "claims", 20000, "claims, of the first Pods")
	flag.IntVar(&c.devices, "devices", 128, "devices in a slice")
	flag.Parse()
	streamed = !*pages
	versions.Store(1000000000)
	time.AfterFunc(time.Duration(*seconds)*time.Second, func() { os.Exit(0) })
	if *reviews != "" {
		if err := c.writeReviews(*reviews, 5000); err != nil {
			log.Fatal(err)
		}
	}
	s := newServer(c)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*portFile+".new", fmt.Appendf(nil, "%d", listener.Addr().(*net.TCPAddr).Port), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(*portFile+".new", *portFile); err != nil {
		log.Fatal(err)
	}
	log.Fatal((&http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}).ServeTLS(listener, *cert, *key))
}
