package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// loop is the autoscaler together with the world that it lives in.
type loop struct {
	opts    options
	now     time.Time
	dice    *rand.Rand
	cloud   *cloud
	cluster *cluster
	session *provisioning.Session
	// unavailable remembers the offerings that had run out.
	unavailable *offerings.Unavailable
	ledger      ledger
	jobs        []job
	// awaited are the nodes that pods wait for, by pod.
	awaited map[string]string
	// promised are the nominations that the session was told last.
	promised map[types.NamespacedName]string
	// forced are steps that must not wait, e.g. before an interruption; planned are those that save money.
	forced, planned queue
	bound           offerings.Price
	// noticed says that a machine has an interruption notice, due is the time of the next
	// consolidation.
	noticed bool
	due     time.Time
}

// catalog is the catalog of the pool: machines of three families, of 8 cores.
func catalog() (*instancetypes.Catalog, error) {
	all, err := ec2.Catalog("us-east-1")
	if err != nil {
		return nil, err
	}
	narrow, err := instancetypes.ParseFilter("category in (c m r),generation>=6,arch=amd64,cpu=8,zone in (us-east-1a us-east-1b us-east-1d)")
	if err != nil {
		return nil, err
	}
	return all.Filter(narrow), nil
}

// pool is the NodePool of the cluster.
func pool(opts *options) *scheduling.NodePool {
	p := &scheduling.NodePool{}
	p.Name = "general"
	p.Spec.Template.Spec.Requirements = []requirements.Selector{
		{Key: offerings.CapacityTypeLabel, Operator: requirements.In, Values: []string{"spot", "on-demand"}},
	}
	expire, calm := 30*time.Hour, 2*time.Minute
	p.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{}
	if !opts.steady {
		p.Spec.Template.Spec.ExpireAfter.Duration = &expire
	}
	p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &calm}
	p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "20%"}}
	return p
}

// newLoop starts with an empty cluster.
func newLoop(opts options) (*loop, error) {
	sale, err := catalog()
	if err != nil {
		return nil, err
	}
	l := &loop{
		opts: opts, now: start(), dice: rand.New(rand.NewPCG(opts.seed, 2)), cloud: newCloud(opts, sale), cluster: newCluster(), awaited: map[string]string{},
		unavailable: &offerings.Unavailable{}, ledger: ledger{moves: map[string]int{}},
	}
	l.session, err = provisioning.NewSession(opts.policy, scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool(&l.opts)}, Catalog: sale, DaemonSets: []*appsv1.DaemonSet{agent()},
		Unavailable: l.unavailable, Now: l.now,
	})
	return l, err
}

// run lets the time pass.
func (l *loop) run(ctx context.Context, length time.Duration) error {
	for end := l.now.Add(length); l.now.Before(end); l.now = l.now.Add(tick) {
		if err := l.step(ctx); err != nil {
			return fmt.Errorf("at %s: %w", l.now.Format(time.DateTime), err)
		}
	}
	return nil
}

// step is one round: the simulated cloud and workload change, then the autoscaler acts.
func (l *loop) step(ctx context.Context) error {
	if err := l.world(); err != nil {
		return err
	}
	if err := l.provision(ctx); err != nil {
		return err
	}
	if err := l.disrupt(ctx); err != nil {
		return err
	}
	l.record()
	return nil
}

// world makes the changes that the autoscaler does not cause: prices, interruptions, pods.
func (l *loop) world() error {
	if l.now.Equal(l.now.Truncate(time.Hour)) {
		changes, err := l.cloud.hourly(l.now)
		if err != nil {
			return err
		}
		l.unavailable.Prune(l.now)
		if err := l.session.Apply(scheduling.Delta{Offerings: changes}); err != nil {
			return err
		}
	}
	noticed, gone := l.cloud.interrupt(l.now)
	for _, name := range noticed {
		l.noticed = true
		l.ledger.interruptions++
		l.cluster.machines[name].Interruption = &disruption.Interruption{At: l.cloud.instances[name].gone, Kind: "spot"}
		l.cluster.taint(name, "aws-node-termination-handler/spot-itn", true)
	}
	for _, name := range gone {
		l.ledger.killed += l.lose(name)
	}
	for name, i := range l.cloud.instances {
		if !l.cluster.ready(name) && !l.now.Before(i.ready) {
			l.cluster.join(name, l.now)
		}
	}
	l.age()
	l.scale()
	l.batch()
	return nil
}

// age makes every fifth machine drift from its NodePool, at three each night.
func (l *loop) age() {
	if l.opts.steady || l.now.Sub(l.now.Truncate(24*time.Hour)) != 3*time.Hour {
		return
	}
	for name, m := range l.cluster.machines {
		if strings.HasSuffix(name, "0") || strings.HasSuffix(name, "8") {
			m.Drift, m.DriftedAt = "its image is old", l.now
		}
	}
}

// lose removes a node and returns the number of its pods. They become pending again.
func (l *loop) lose(name string) int {
	pods := l.cluster.on(name)
	for _, pod := range pods {
		l.cluster.bind(pod, "", l.now)
	}
	l.cloud.terminate(name)
	l.cluster.deleteNode(name, l.now)
	return len(pods)
}

// scale makes and removes pods of services.
func (l *loop) scale() {
	for _, s := range services() {
		want := s.replicas(l.now, l.opts.steady)
		if l.now.Before(start().Add(l.opts.surge)) {
			want += want / 2
		}
		for n := range want {
			if p := s.pod(n); l.cluster.pods[scheduling.PodName(p)] == nil {
				l.cluster.putPod(p)
			}
		}
		for n := want; l.cluster.pods[scheduling.PodName(s.pod(n))] != nil; n++ {
			l.cluster.deletePod(scheduling.PodName(s.pod(n)), l.now)
		}
	}
}

// batch lets jobs come and end.
func (l *loop) batch() {
	if l.opts.steady {
		return
	}
	l.jobs = slices.DeleteFunc(l.jobs, func(j job) bool {
		if l.now.Before(j.ends) {
			return false
		}
		for n := range j.pods {
			l.cluster.deletePod(scheduling.PodName(j.pod(n)), l.now)
		}
		return true
	})
	if j, ok := nextJob(l.dice, l.now, int(l.now.Sub(start())/tick)); ok {
		l.jobs = append(l.jobs, j)
		for n := range j.pods {
			l.cluster.putPod(j.pod(n))
		}
	}
}

// record takes down how things stand.
func (l *loop) record() {
	p := point{at: l.now, bound: l.bound, nodes: len(l.cluster.nodes), pending: l.cluster.pending()}
	for name := range l.cloud.instances {
		p.price += l.cloud.price(name)
	}
	p.pods = len(l.cluster.pods) - l.cluster.agents()
	l.ledger.points = append(l.ledger.points, p)
}
