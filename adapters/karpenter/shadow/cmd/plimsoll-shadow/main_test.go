package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow/internal/replay"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// replayed is the number of decisions of TestReplay.
var replayed = flag.Int("decisions", 1000, "decisions of TestReplay") //nolint:gochecknoglobals // flags of tests are

// asProgram is the variable of the environment by which the test is the program itself, in a process of its own.
const asProgram = "PLIMSOLL_SHADOW_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// rulesOf are the rules of all roles in a manifest.
func rulesOf(t *testing.T, file string) []rbacv1.PolicyRule {
	data, err := os.ReadFile(filepath.Join("..", "..", file))
	require.NoError(t, err)
	var rules []rbacv1.PolicyRule
	for doc := range strings.SplitSeq(string(data), "\n---\n") {
		var role rbacv1.ClusterRole
		require.NoError(t, yaml.Unmarshal([]byte(doc), &role))
		if role.Kind == "ClusterRole" || role.Kind == "Role" {
			rules = append(rules, role.Rules...)
		}
	}
	require.NotEmpty(t, rules)
	return rules
}

// program is a running shadow.
type program struct {
	t       *testing.T
	command *exec.Cmd
	log     lockedBuffer
	address string
}

// patience is how long anything may take; a busy machine is slow.
const patience = 5 * time.Minute

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs the program beside the server until it is ready.
func start(t *testing.T, server *httptest.Server, args ...string) *program {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":%q}}]}`, server.URL), 0o600))
	p := &program{t: t}
	p.command = exec.CommandContext(t.Context(), os.Args[0], append([]string{"--kubeconfig=" + kubeconfig, "--listen=127.0.0.1:0"}, args...)...) //nolint:gosec // the test itself
	p.command.Env = append(os.Environ(), asProgram+"=1", "GOMEMLIMIT=130MiB")
	p.command.Stderr = &p.log
	require.NoError(t, p.command.Start())
	t.Cleanup(p.stop)
	address := regexp.MustCompile(`"address":"([^"]+)"`)
	require.Eventually(t, func() bool {
		if m := address.FindStringSubmatch(p.log.String()); m != nil {
			p.address = "http://" + m[1]
		}
		return p.address != "" && p.get("/readyz") == "ok\n"
	}, patience, 20*time.Millisecond, "%s", &p.log)
	return p
}

func (p *program) stop() {
	if p.command.ProcessState == nil {
		_ = p.command.Process.Signal(os.Interrupt)
		_ = p.command.Wait()
	}
}

func (p *program) get(path string) string {
	q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.address+path, http.NoBody)
	require.NoError(p.t, err)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	return string(data)
}

// sum is the sum of the samples of a metric whose labels contain a text.
func (p *program) sum(metric, labels string) float64 {
	sum := 0.0
	for _, m := range regexp.MustCompile(`(?m)^plimsoll_shadow_`+metric+`(?:\{(.*)\})? (\S+)$`).FindAllStringSubmatch(p.get("/metrics"), -1) {
		x, err := strconv.ParseFloat(m[2], 64)
		require.NoError(p.t, err)
		if strings.Contains(m[1], labels) {
			sum += x
		}
	}
	return sum
}

// memory is a figure of the process in MiB, e.g. VmHWM, its largest resident memory so far; 0 where the system does not
// tell.
func (p *program) memory(figure string) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindStringSubmatch(string(data))
	kib, err := strconv.Atoi(m[1])
	require.NoError(p.t, err)
	return kib >> 10
}

// cpuTime is the time that the process has spent on a processor; 0 where the system does not tell.
func (p *program) cpuTime() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const user, system, tick = 11, 12, time.Second / 100 // behind the name, as in proc_pid_stat(5)
	var sum time.Duration
	for _, field := range fields[user : system+1] {
		n, err := strconv.Atoi(field)
		require.NoError(p.t, err)
		sum += time.Duration(n) * tick
	}
	return sum
}

// dressed gives a pod the fields that real pods have beside those that plans read.
func dressed(pod *corev1.Pod) {
	c := &pod.Spec.Containers[0]
	c.Image, c.Env, c.VolumeMounts, pod.Spec.Volumes = "registry.example.com/shop/"+c.Name+":v1.2.3", nil, nil, nil
	for i := range 12 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: strings.Repeat("x", 40)})
	}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/live", "--all"}}}}
	for _, name := range []string{"config", "token"} {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/etc/" + name})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}})
	}
	pod.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: strings.Repeat("y", 1500)}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:" + strings.Repeat("0", 64), ContainerID: "containerd://" + strings.Repeat("0", 64), Ready: true,
		AllocatedResources: c.Resources.Requests, Resources: &c.Resources,
	}}
}

// town is a world that an API server shows, with services whose pods fill nodes of one type.
type town struct {
	*replay.World

	t      *testing.T
	p      *program
	server *apiServer
	nodes  []string // NodeClaims with nodes
	round  int
	// launched and removed count nodes since the program runs.
	launched, removed int
	// plans is the number of plans before the decision under way.
	plans float64
}

func newTown(t *testing.T, rules []rbacv1.PolicyRule, nodes int) (*town, *httptest.Server) {
	catalog, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	w := &town{World: replay.NewWorld(catalog), t: t, server: newAPIServer(rules)}
	w.Put, w.Remove, w.Dress = w.server.Put, w.server.Remove, dressed
	w.Now = time.Now().Add(-time.Hour)
	w.server.Put(w.Pool("general"))
	for range nodes {
		w.launch(20)
	}
	w.server.CutWatches(true) // the past is forgotten
	server := httptest.NewServer(w.server)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return w, server
}

// machine is the type of the town's nodes, with room for 20 of its pods.
const machine = "m5.2xlarge"

// launch has Karpenter launch a node for so many pods.
func (w *town) launch(pods int) {
	w.round++
	w.launchFor(w.Pending(fmt.Sprintf("service-%d", w.round%200), pods, 380))
}

func (w *town) launchFor(waiting ...[]*corev1.Pod) {
	var claims []string
	for range waiting {
		claims = append(claims, w.Claim("general").Name)
	}
	for i, name := range claims {
		w.Bind(w.Join(w.Claims[name], machine), waiting[i]...)
	}
	w.nodes = append(w.nodes, claims...)
	w.launched += len(claims)
}

// oldest takes the oldest node.
func (w *town) oldest() string {
	name := w.nodes[0]
	w.nodes = w.nodes[1:]
	return name
}

// decide has Karpenter decide once, in four ways in turn.
func (w *town) decide() {
	w.Now = time.Now()
	switch w.round++; w.round % 4 {
	case 0:
		w.launch(20)
		w.round--
	case 1: // a node is replaced by one of the same type
		old := w.Claims[w.oldest()]
		w.Mark(old, "Underutilized")
		c := w.Claim("general")
		w.nodes = append(w.nodes, c.Name)
		to := w.Join(c, machine)
		w.seen() // the node is drained once its replacement is ready
		w.End(old, to)
		w.launched, w.removed = w.launched+1, w.removed+1
	case 2: // a round of two nodes
		w.launchFor(w.Pending("service-a", 20, 380), w.Pending("service-b", 20, 380))
	case 3: // pods end, and their nodes are removed
		var marked []string
		for range 3 {
			name := w.oldest()
			w.Finish("node-" + name)
			w.Mark(w.Claims[name], "Empty")
			marked = append(marked, name)
		}
		w.seen()
		for _, name := range marked {
			w.End(w.Claims[name], nil)
		}
		w.removed += len(marked)
	}
}

// seen waits until the program has planned the decision under way, so that it knows of all its NodeClaims.
func (w *town) seen() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.p.sum("unsettled_decisions", "") > 0 && w.p.sum("plan_duration_seconds_count", "") > w.plans
	}, patience, 20*time.Millisecond, "%s", &w.p.log)
}

// play makes so many decisions, one after the other. Each node counts once, however busy the computer is, so that one
// decision may be taken for two.
func (w *town) play(decisions int) {
	w.t.Helper()
	price := func(n int) float64 { return float64(n) * 0.384 } // of the machine, on demand
	for range decisions {
		w.plans = w.p.sum("plan_duration_seconds_count", "")
		w.decide()
		require.Eventually(w.t, func() bool {
			return w.p.sum("launched_dollars_per_hour_total", `by="karpenter"`) > price(w.launched)-0.001 &&
				w.p.sum("removed_dollars_per_hour_total", `by="karpenter"`) > price(w.removed)-0.001
		}, patience, 20*time.Millisecond, "%s", &w.p.log)
	}
	require.InDelta(w.t, price(w.launched), w.p.sum("launched_dollars_per_hour_total", `by="karpenter"`), 0.001)
	require.InDelta(w.t, price(w.removed), w.p.sum("removed_dollars_per_hour_total", `by="karpenter"`), 0.001)
	require.Zero(w.t, w.p.sum("unsettled_decisions", ""))
	require.Equal(w.t, w.p.sum("decisions_total", ""), w.p.sum("decisions_total", `outcome="compared"`)) //nolint:testifylint // whole numbers
}

// readsOnly checks that the program has only asked what the rules allow, and that these allow no change.
func (w *town) readsOnly(rules []rbacv1.PolicyRule) {
	for _, r := range rules {
		require.Subset(w.t, []string{"get", "list", "watch"}, r.Verbs)
		require.NotContains(w.t, r.Resources, "*")
		require.NotContains(w.t, r.Resources, "secrets")
	}
	require.NotEmpty(w.t, w.server.Requests())
	for _, q := range w.server.Requests() {
		require.True(w.t, q.Allowed, "%s %s", q.Verb, q.Resource)
		require.Contains(w.t, []string{"get", "list", "watch"}, q.Verb)
	}
}

// Beside 1,000 nodes with 20,000 pods the program compares decision after decision in less than 200 MiB, and asks for
// nothing that its role in deploy.yaml does not allow. With -short these are 8 decisions.
func TestReplay(t *testing.T) {
	decisions := *replayed
	if testing.Short() {
		decisions = 8
	}
	rules := rulesOf(t, "deploy.yaml")
	w, server := newTown(t, rules, 1000)
	require.Len(t, w.Pods, 20_000)
	// Decisions come one after the other, so that a short window tells them apart, and the test need not wait for long ones.
	windows := []string{"--catalog=ec2/us-east-1", "--consolidate-every=0", "--batch-idle-duration=200ms"}
	w.p = start(t, server, windows...)
	w.launched, w.removed = 0, 0
	listed := w.p.memory("VmHWM")
	begin := time.Now()
	w.play(decisions / 2)
	w.server.CutWatches(false)
	w.play(decisions / 4)
	w.server.CutWatches(true)
	w.play(decisions / 4)
	most := w.p.memory("VmHWM")
	t.Logf("%d decisions in %v, %v of CPU time: %d MiB of memory at most, %d MiB when all was listed, %d MiB at the end", decisions, time.Since(begin).Round(time.Second), w.p.cpuTime(), most, listed, w.p.memory("VmRSS"))
	require.Less(t, most, 200)
	require.GreaterOrEqual(t, int(w.p.sum("decisions_total", "")), decisions)
	w.readsOnly(rules)

	// The process is killed and comes back: it counts what happens from then on.
	require.NoError(t, w.p.command.Process.Kill())
	_ = w.p.command.Wait()
	w.launch(20)
	w.p = start(t, server, windows...)
	w.launched, w.removed = 0, 0
	require.Zero(t, w.p.sum("decisions_total", ""))
	w.play(4)
	w.readsOnly(rules)
}

// With --events each compared decision is an event, and nothing else is written.
func TestEvents(t *testing.T) {
	w, server := newTown(t, append(rulesOf(t, "deploy.yaml"), rulesOf(t, "events.yaml")...), 3)
	w.launched, w.removed = 0, 0
	w.p = start(t, server, "--events", "--batch-idle-duration=200ms", "--consolidate-every=1s")
	w.play(3)
	require.Eventually(t, func() bool {
		for _, q := range w.server.Requests() {
			require.True(t, q.Allowed)
			if q.Verb == "create" {
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond)
	for _, q := range w.server.Requests() {
		require.True(t, q.Verb != "create" || q.Resource == "events")
		require.NotContains(t, []string{"update", "patch", "delete"}, q.Verb)
	}
	require.Eventually(t, func() bool { return strings.Contains(w.p.get("/metrics"), `{state="consolidated"}`) }, patience, 20*time.Millisecond)
}

// A request that could change something does not leave the process.
func TestReadOnly(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return readOnly{to} })
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		q, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1/api/v1/nodes/n", http.NoBody)
		require.NoError(t, err)
		answer, err := client.Do(q)
		if err == nil {
			answer.Body.Close()
		}
		require.ErrorContains(t, err, "the shadow only reads")
	}
}

func TestFlags(t *testing.T) {
	for args, says := range map[string]string{
		"x":                                    `argument "x"`,
		"--plan-timeout=0s":                    "--plan-timeout=0s: must be above 0",
		"--consolidate-every=-1s":              "--consolidate-every=-1s: must not be negative",
		"--effort=hard":                        "hard",
		"--kubeconfig=/nowhere/config":         "--kubeconfig: ",
		"--batch-idle-duration=11s":            "--batch-idle-duration=11s, --batch-max-duration=10s",
		"--batch-idle-duration=0s --catalog=x": "--batch-idle-duration=0s",
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard)
		require.ErrorContains(t, err, says, args)
	}
}

// The catalog is that of the flag, or of the region of the first node that states one. Prices that match no offering are
// an error.
func TestCatalog(t *testing.T) {
	of := func(region string, args ...string) (string, error) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelTopologyRegion: region}}}
		f, err := parse(args, io.Discard)
		require.NoError(t, err)
		c, err := f.catalog(t.Context(), fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, node), slog.New(slog.DiscardHandler))
		return c.Name(), err
	}
	for region, want := range map[string]string{"eu-west-1": "ec2/eu-west-1", "westeurope": "azure/westeurope", "europe-west4": "gcp/europe-west4"} {
		name, err := of(region)
		require.NoError(t, err)
		require.Equal(t, want, name)
	}
	name, err := of("moon-1", "--catalog=azure/eastus")
	require.NoError(t, err)
	require.Equal(t, "azure/eastus", name)
	prices := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(prices, []byte("instanceType,price\nm5.lage,1\n"), 0o600))
	for want, args := range map[string][]string{
		`node n: no catalog of region "moon-1" is embedded; give instance types with prices by --catalog`: {},
		"--catalog /nowhere/catalog.json: neither an embedded catalog":                                    {"--catalog=/nowhere/catalog.json"},
		"--prices none.csv: no such file":                                                                 {"--catalog=azure/eastus", "--prices=none.csv"},
		"--prices " + prices + ": no price matches an offering of catalog azure/":                         {"--catalog=azure/eastus", "--prices=" + prices},
	} {
		_, err := of("moon-1", args...)
		require.ErrorContains(t, err, want)
	}
	_, err = of("")
	require.ErrorContains(t, err, "--catalog: must be given, because no node has the label topology.kubernetes.io/region")
}

// Zones have the names that they have in the account of the nodes: prices by name are those of the same zone, and the catalog
// has the offerings that nodes prove to be sold. Nodes that contradict each other are an error that names both.
func TestZoneNames(t *testing.T) {
	node := func(name, zone, id string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelTopologyRegion: "us-east-1", corev1.LabelTopologyZone: zone, offerings.ZoneIDLabel: id,
			corev1.LabelInstanceTypeStable: "m5.large", offerings.CapacityTypeLabel: "spot",
		}}}
	}
	prices := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(prices, []byte("instanceType,zone,capacityType,price\nm5.large,us-east-1a,spot,0.0123\n"), 0o600))
	f, err := parse([]string{"--prices=" + prices}, io.Discard)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	c, err := f.catalog(t.Context(), fake.NewClientset(node("n1", "us-east-1a", "use1-az2"), node("n2", "us-east-1b", "use1-az1"), node("n3", "us-east-1x", "use1-az9")), log)
	require.NoError(t, err)
	m5, ok := c.Get("m5.large")
	require.True(t, ok)
	price := map[string]string{}
	for _, o := range m5.Offerings {
		if o.CapacityType == offerings.Spot {
			price[o.Zone+" "+o.Labels[offerings.ZoneIDLabel]] = o.Price.String()
		}
	}
	require.Equal(t, "0.0123", price["us-east-1a use1-az2"])
	require.Contains(t, price, "us-east-1b use1-az1")
	_, sold := c.Lookup(offerings.Key{InstanceType: "m5.large", Zone: "us-east-1x", CapacityType: offerings.Spot})
	require.True(t, sold)
	_, err = f.catalog(t.Context(), fake.NewClientset(node("n1", "us-east-1a", "use1-az2"), node("n2", "us-east-1a", "use1-az1")), log)
	require.ErrorContains(t, err, "node n2: topology.k8s.aws/zone-id: use1-az1 is the id of zone us-east-1a, but on node n1 use1-az2 is that of us-east-1a")
}

// A cluster without Karpenter is an error that says so. The log begins with the date of the prices.
func TestNoKarpenter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/api/v1/nodes" {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"NodeList","items":[]}`)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":%q}}]}`, server.URL), 0o600))
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("late"))
	defer cancel()
	var log bytes.Buffer
	err := run(ctx, []string{"--kubeconfig=" + kubeconfig, "--catalog=ec2/us-east-1", "--listen=127.0.0.1:0"}, &log)
	require.ErrorContains(t, err, "the API server does not serve nodeclaims of karpenter.sh/v1: is Karpenter 1.0 or later installed?")
	first, _, _ := strings.Cut(log.String(), "\n")
	require.Regexp(t, `"name":"ec2/us-east-1".*"capacityType":"spot".*"date":"20\d\d-\d\d-\d\d"`, first)
}

// The memory that deploy.yaml gives the program is above the bound of the test.
func TestDeployment(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy.yaml"))
	require.NoError(t, err)
	m := regexp.MustCompile(`limits:\s+memory: (\S+)`).FindStringSubmatch(string(data))
	require.NotNil(t, m)
	limit := resource.MustParse(m[1])
	require.Greater(t, limit.Value(), int64(200<<20))
	require.Contains(t, string(data), "value: 130MiB")
}
