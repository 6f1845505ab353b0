package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Resource is a resource of the API server.
type Resource struct{ Group, Version, Kind, Name string }

// path is the path of its list for all namespaces.
func (r Resource) path() string {
	if r.Group == "" {
		return "/api/" + r.Version + "/" + r.Name
	}
	return "/apis/" + r.Group + "/" + r.Version + "/" + r.Name
}

func (r Resource) apiVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// resources are those that the server has.
func resources() []Resource {
	return []Resource{
		{"", "v1", "Pod", "pods"}, {"", "v1", "Node", "nodes"}, {"", "v1", "Namespace", "namespaces"}, {"", "v1", "Service", "services"},
		{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"}, {"", "v1", "PersistentVolume", "persistentvolumes"},
		{"", "v1", "ReplicationController", "replicationcontrollers"}, {"", "v1", "Event", "events"},
		{"apps", "v1", "DaemonSet", "daemonsets"}, {"apps", "v1", "ReplicaSet", "replicasets"}, {"apps", "v1", "StatefulSet", "statefulsets"},
		{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"},
		{"storage.k8s.io", "v1", "StorageClass", "storageclasses"}, {"storage.k8s.io", "v1", "CSINode", "csinodes"},
		{"karpenter.sh", "v1", "NodePool", "nodepools"}, {"karpenter.sh", "v1", "NodeClaim", "nodeclaims"},
	}
}

// Request is a request that the server has answered.
type Request struct {
	Verb, Resource string
	// Allowed says whether a rule allows it.
	Allowed bool
}

// apiServer serves objects to whom its rules allow it: get, list and watch, and creation of events.
type apiServer struct {
	mu      sync.Mutex
	rules   []rbacv1.PolicyRule
	version int
	tables  map[string]*table
	seen    map[Request]int
	// epoch counts the cuts of watches; those of an earlier one end.
	epoch   int
	changed chan struct{}
}

// table has the objects of a resource, and their changes since the version from.
type table struct {
	Resource
	objects map[string][]byte
	log     []change
	from    int
}

type change struct {
	version int
	kind    string
	object  []byte
}

// newAPIServer returns a server without objects.
func newAPIServer(rules []rbacv1.PolicyRule) *apiServer {
	s := &apiServer{rules: rules, tables: map[string]*table{}, seen: map[Request]int{}, changed: make(chan struct{})}
	for _, r := range resources() {
		s.tables[r.path()] = &table{Resource: r, objects: map[string][]byte{}}
	}
	return s
}

// Requests are the kinds of requests so far.
func (s *apiServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.seen))
}

// CutWatches ends all watches. If lossy, the events that a client has not seen yet are gone, so that it has to list anew.
func (s *apiServer) CutWatches(lossy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	if lossy {
		s.version++
		for _, t := range s.tables {
			t.log, t.from = nil, s.version
		}
	}
	s.signal()
}

// signal wakes all watches. The caller holds mu.
func (s *apiServer) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Put adds an object, or replaces it.
func (s *apiServer) Put(o metav1.Object) { s.change(o, false) }

// Remove removes an object.
func (s *apiServer) Remove(o metav1.Object) { s.change(o, true) }

func (s *apiServer) change(o metav1.Object, removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resourceOf(o).path()]
	s.version++
	fields := map[string]any{}
	if data, err := json.Marshal(o); err != nil || json.Unmarshal(data, &fields) != nil {
		panic(fmt.Sprintf("object %T", o))
	}
	fields["apiVersion"], fields["kind"] = t.apiVersion(), t.Kind
	meta, _ := fields["metadata"].(map[string]any)
	meta["resourceVersion"] = strconv.Itoa(s.version)
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	name, kind := o.GetNamespace()+"/"+o.GetName(), "MODIFIED"
	if _, ok := t.objects[name]; !ok {
		kind = "ADDED"
	}
	if t.objects[name] = data; removed {
		kind = "DELETED"
		delete(t.objects, name)
	}
	t.log = append(t.log, change{s.version, kind, data})
	s.signal()
}

func resourceOf(o metav1.Object) Resource {
	kind := ""
	switch x := o.(type) {
	case *corev1.Pod:
		kind = "Pod"
	case *corev1.Node:
		kind = "Node"
	case *appsv1.ReplicaSet:
		kind = "ReplicaSet"
	case *appsv1.DaemonSet:
		kind = "DaemonSet"
	case *manifest.NodeClaim:
		kind = "NodeClaim"
	case *unstructured.Unstructured:
		kind = x.GetKind()
	}
	for _, r := range resources() {
		if r.Kind == kind {
			return r
		}
	}
	panic(fmt.Sprintf("object %T", o))
}

// ServeHTTP implements [http.Handler].
func (s *apiServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodGet && s.discovery(w, q) {
		return
	}
	path := q.URL.Path
	if base, rest, ok := strings.Cut(path, "/namespaces/"); ok {
		if _, of, ok := strings.Cut(rest, "/"); ok {
			path = base + "/" + of
		}
	}
	s.mu.Lock()
	t := s.tables[path]
	verb := map[string]string{http.MethodGet: "list", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[q.Method]
	name := ""
	if t == nil {
		i := strings.LastIndexByte(path, '/')
		t, name = s.tables[path[:i]], path[i+1:]
		if verb == "list" {
			verb = "get"
		}
	}
	if t == nil {
		s.mu.Unlock()
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	if verb == "list" && q.URL.Query().Get("watch") != "" {
		verb = "watch"
	}
	allowed := slices.ContainsFunc(s.rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, t.Group) && slices.Contains(r.Resources, t.Name) && slices.Contains(r.Verbs, verb)
	})
	s.seen[Request{verb, t.Name, allowed}]++
	switch {
	case !allowed:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case verb == "get" && t.objects["/"+name] != nil:
		_, _ = w.Write(t.objects["/"+name])
	case verb == "get":
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case verb == "list":
		s.list(w, t)
	case verb == "watch":
		s.mu.Unlock()
		s.watch(w, q, t)
		return
	case verb == "create" && t.Kind == "Event":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"}}`)
	default:
		fail(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed)
	}
	s.mu.Unlock()
}

// discovery answers which resources there are, which everybody may ask.
func (s *apiServer) discovery(w http.ResponseWriter, q *http.Request) bool {
	gv, ok := strings.CutPrefix(q.URL.Path, "/apis/")
	if !ok || strings.Count(gv, "/") != 1 {
		return false
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv}
	for _, r := range resources() {
		if r.apiVersion() == gv {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: r.Name, Kind: r.Kind, Verbs: metav1.Verbs{"get", "list", "watch"}})
		}
	}
	if len(list.APIResources) == 0 {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
	return true
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code), Message: string(reason)}) //nolint:gosec // a status of HTTP
}

// list writes all objects. The caller holds mu.
func (s *apiServer) list(w http.ResponseWriter, t *table) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"%sList","metadata":{"resourceVersion":"%d"},"items":[`, t.apiVersion(), t.Kind, s.version)
	for i, name := range slices.Sorted(maps.Keys(t.objects)) {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		_, _ = w.Write(t.objects[name])
	}
	fmt.Fprint(w, "]}")
}

// watch writes changes until the client leaves or watches are cut: all objects first if the client asks for them.
func (s *apiServer) watch(w http.ResponseWriter, q *http.Request, t *table) {
	w.Header().Set("Content-Type", "application/json")
	send := func(kind string, object []byte) { fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", kind, object) }
	s.mu.Lock()
	epoch := s.epoch
	at, _ := strconv.Atoi(q.URL.Query().Get("resourceVersion"))
	if q.URL.Query().Get("sendInitialEvents") == "true" {
		for _, name := range slices.Sorted(maps.Keys(t.objects)) {
			send("ADDED", t.objects[name])
		}
		at = s.version
		send("BOOKMARK", fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}`, t.apiVersion(), t.Kind, at))
	}
	defer s.mu.Unlock()
	for s.epoch == epoch {
		if at < t.from {
			send("ERROR", []byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}`))
			return
		}
		i, _ := slices.BinarySearchFunc(t.log, at+1, func(c change, version int) int { return c.version - version })
		for ; i < len(t.log); i++ {
			send(t.log[i].kind, t.log[i].object)
			at = t.log[i].version
		}
		at = max(at, s.version)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-q.Context().Done():
			s.mu.Lock()
			return
		}
		s.mu.Lock()
	}
}
