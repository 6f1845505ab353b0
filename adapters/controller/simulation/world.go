package simulation

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// Start is when the simulated time begins, a Monday.
func Start() time.Time { return time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC) }

// Options describe a [World].
type Options struct {
	// Seed decides about everything that is random.
	Seed uint64
	// Catalog has the instance types of the cloud, at list prices; required.
	Catalog *instancetypes.Catalog
	// Tick is the time between two calls of Advance; required.
	Tick time.Duration
	// Services run all the time.
	Services []Service
	// JobsPerDay is how many batch jobs start on a day, on average; 0 is none.
	JobsPerDay float64
	// Surge is for how long at the beginning services have half as many pods again.
	Surge time.Duration
	// Flat leaves out the daily wave of services.
	Flat bool
	// Noise is the largest deviation of spot prices from the list: 0.02 is 2 % up or down; 0 is none.
	Noise float64
	// Interruptions multiplies the catalog's rates of spot interruption; 0 is no interruption.
	Interruptions float64
	// Scarce limits the machines of each spot offering to a number from 3 to 19.
	Scarce bool
	// Repriced is told the offerings whose price has changed, at each full hour; nil for none.
	Repriced func(changes ...instancetypes.OfferingChange) error
}

// Watcher is told of each change of an object, as by watch events. A controller.Controller is one.
type Watcher interface {
	Upsert(objects ...metav1.Object) error
	Delete(objects ...metav1.Object) error
}

// World is a cluster and its cloud. It is not safe for concurrent use.
type World struct {
	Cloud   *Cloud
	Cluster *Cluster
	opts    Options
	dice    *rand.Rand
	jobs    []job
}

// NewWorld is a world without pods and nodes at time [Start]. Its first events come with Watch.
func NewWorld(opts Options) *World {
	return &World{Cloud: newCloud(opts), Cluster: newCluster(), opts: opts, dice: rand.New(rand.NewPCG(opts.Seed, 2))}
}

// Watch tells the watcher of the DaemonSet and the PodDisruptionBudgets, and of all changes from now on. It is called
// once, before the first Advance.
func (w *World) Watch(watcher Watcher) error {
	w.Cluster.watcher = watcher
	errs := []error{watcher.Upsert(Agent())}
	for _, s := range w.opts.Services {
		errs = append(errs, w.Cluster.addBudget(s.Name))
	}
	return errors.Join(errs...)
}

// Advance lets the time pass until now, one tick after that of the call before: prices change at full hours, spot machines
// are interrupted, nodes join and are deleted, pods are created, deleted and bound. An autoscaler acts after it.
func (w *World) Advance(now time.Time) error {
	w.Cloud.now, w.Cluster.now = now, now
	if now.Equal(now.Truncate(time.Hour)) {
		if err := w.Cloud.hourly(); err != nil {
			return err
		}
	}
	w.Cloud.interrupt()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.Cluster.Nodes)) {
		if w.Cloud.Instances[name] == nil {
			errs = append(errs, w.Cluster.deleteNode(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Cloud.Instances)) {
		i := w.Cloud.Instances[name]
		if i.Joined || now.Before(i.ready) {
			continue
		}
		i.Joined = true
		node, err := i.Machine.Order.Launch.Node(name, &i.Machine.Order.Option, w.Cloud.sale)
		if err != nil {
			return err
		}
		node.Spec.Taints = append(node.Spec.Taints, i.Machine.Order.Launch.StartupTaints...)
		errs = append(errs, w.Cluster.join(node))
	}
	errs = append(errs, w.scale(), w.batch(), w.Schedule())
	return errors.Join(errs...)
}

// Schedule has kube-scheduler bind pods. Advance does so, too; called after the autoscaler has acted, it binds pods
// without the wait for the next tick.
func (w *World) Schedule() error {
	return errors.Join(w.Cluster.schedule(w.Cloud.sale), w.Cluster.countBudgets())
}

// scale creates and deletes pods of services.
func (w *World) scale() error {
	var errs []error
	for _, s := range w.opts.Services {
		want := s.replicas(w.Cluster.now, w.opts.Flat)
		if w.Cluster.now.Before(Start().Add(w.opts.Surge)) {
			want += want / 2
		}
		for n := range want {
			if w.Cluster.Pods[s.podName(n)] == nil {
				errs = append(errs, w.Cluster.create(s.pod(n)))
			}
		}
		for n := want; w.Cluster.Pods[s.podName(n)] != nil; n++ {
			errs = append(errs, w.Cluster.deletePod(s.podName(n)))
		}
	}
	return errors.Join(errs...)
}

// batch lets jobs begin and end.
func (w *World) batch() error {
	if w.opts.JobsPerDay == 0 {
		return nil
	}
	var errs []error
	now := w.Cluster.now
	w.jobs = slices.DeleteFunc(w.jobs, func(j job) bool {
		if now.Before(j.ends) {
			return false
		}
		for n := range j.pods {
			errs = append(errs, w.Cluster.deletePod(nameOf(j.pod(n))))
		}
		return true
	})
	if w.dice.Float64() > w.opts.JobsPerDay*w.opts.Tick.Hours()/24 {
		return errors.Join(errs...)
	}
	j := newJob(w.dice, now, int(now.Sub(Start())/w.opts.Tick))
	w.jobs = append(w.jobs, j)
	for n := range j.pods {
		errs = append(errs, w.Cluster.create(j.pod(n)))
	}
	return errors.Join(errs...)
}
