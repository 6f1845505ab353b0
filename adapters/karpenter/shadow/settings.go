package shadow

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// settings are the NodePools, NodeOverlays and node classes, and the catalogs of NodePools that follow from them.
type settings struct {
	inbox *settingsInbox
	pools map[string]*scheduling.NodePool
	// catalogs are those of NodePools that do not launch from the shadow's catalog; changed says that the session has
	// others.
	catalogs map[string]*instancetypes.Catalog
	changed  bool
	// warned are the warnings about the objects that are logged.
	warned state.WarningLog
}

// settingsInbox has each object as JSON, by kind and name.
type settingsInbox struct {
	mu      sync.Mutex
	objects map[string][]byte
	changed bool
}

func newSettings() settings {
	return settings{
		inbox: &settingsInbox{objects: map[string][]byte{}}, pools: map[string]*scheduling.NodePool{}, catalogs: map[string]*instancetypes.Catalog{},
	}
}

// static reports whether a NodePool has a fixed number of nodes, which no pod decides.
func (s *settings) static(pool string) bool {
	p := s.pools[pool]
	return p != nil && p.Spec.Replicas != nil
}

// settingOf names a setting.
func settingOf(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// PutSetting tells of a NodePool, NodeOverlay or node class that is new or has changed. The error names all fields that
// cannot be read; the object keeps its last state then.
func (s *Shadow) PutSetting(o *unstructured.Unstructured) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("%s: %w", settingOf(o), err)
	}
	if _, err := (manifest.Loader{}).Read(settingOf(o), bytes.NewReader(data)); err != nil {
		return err
	}
	x := s.settings.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if !bytes.Equal(x.objects[settingOf(o)], data) {
		x.objects[settingOf(o)], x.changed = data, true
	}
	return nil
}

// RemoveSetting tells of a NodePool, NodeOverlay or node class that is gone. An unknown one is no error.
func (s *Shadow) RemoveSetting(o *unstructured.Unstructured) {
	x := s.settings.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.objects[settingOf(o)]; ok {
		delete(x.objects, settingOf(o))
		x.changed = true
	}
}

// readSettings reads the settings if they have changed: NodePools as events, and the catalogs.
func (s *Shadow) readSettings() {
	x := s.settings.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.changed {
		return
	}
	x.changed = false
	var data bytes.Buffer
	for _, name := range sortedKeys(x.objects) {
		data.Write(x.objects[name])
	}
	read, err := manifest.Loader{}.Read("NodePools and NodeOverlays", &data)
	if err == nil {
		err = read.SetCatalog(s.opts.Catalog)
	}
	if err != nil {
		s.opts.Log.Warn("NodePools, NodeOverlays and node classes stay as they were", "error", err)
		return
	}
	s.settings.warned.Log(context.Background(), s.opts.Log, read.Warnings)
	pools := map[string]*scheduling.NodePool{}
	var told []metav1.Object
	for _, pool := range read.Problem.NodePools {
		pools[pool.Name] = pool
		told = append(told, pool)
	}
	for name := range s.settings.pools {
		if pools[name] == nil {
			s.refuse(s.state.Delete(&scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}))
		}
	}
	s.refuse(s.state.Upsert(told...))
	s.settings.pools, s.settings.catalogs, s.settings.changed = pools, read.Problem.PoolCatalogs, true
}

// applyCatalogs makes the session have the catalogs of NodePools, once it has the NodePools.
func (s *Shadow) applyCatalogs() {
	if !s.settings.changed {
		return
	}
	s.settings.changed = false
	d := scheduling.Delta{PoolCatalogs: map[string]*instancetypes.Catalog{}}
	for name := range s.settings.pools {
		d.PoolCatalogs[name] = s.settings.catalogs[name] // nil is the shadow's catalog
	}
	s.refuse(s.state.Session().Apply(d))
}

// refuse counts and logs an object that cannot be read or that the session refuses; nil is none.
func (s *Shadow) refuse(err error) {
	if err != nil {
		s.ledger.reject()
		s.opts.Log.Warn("object is left out of plans", "error", err)
	}
}
