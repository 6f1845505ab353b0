package instancetypes

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Cached remembers the answers of another source, one for each NodePool. It is for
// sources that are slow or limited in how often they may be asked. Any number of
// goroutines may use one; of those that ask for the same pool at the same time,
// one asks the source and the others wait for its answer.
//
// Errors are not remembered, and an answer that has grown old is never given out
// in place of one.
type Cached struct {
	// Source is asked; it is required.
	Source Source
	// TTL is how long an answer stays good; 0 is five minutes.
	TTL time.Duration
	// Now tells the time; it is required, so that nothing here reads a clock on its
	// own. Most callers pass time.Now.
	Now func() time.Time

	mu    sync.Mutex
	pools map[string]*cachedPool
}

// cachedPool is the answer for one pool. Whoever takes the token out of turn may
// read and write the other fields until they put it back.
type cachedPool struct {
	turn  chan struct{}
	types []*InstanceType
	until time.Time
	known bool
}

const defaultTTL = 5 * time.Minute

// InstanceTypes returns the remembered answer, or asks the source for one. It ends
// with the context's error if that ends while it waits for another goroutine.
func (c *Cached) InstanceTypes(ctx context.Context, nodePool string) ([]*InstanceType, error) {
	if c.Source == nil || c.Now == nil {
		return nil, errors.New("cached source: Source and Now are required")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := c.pool(nodePool)
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { p.turn <- struct{}{} }()
	if p.known && c.Now().Before(p.until) {
		return p.types, nil
	}
	types, err := c.Source.InstanceTypes(ctx, nodePool)
	if err != nil {
		return nil, err
	}
	ttl := c.TTL
	if ttl == 0 {
		ttl = defaultTTL
	}
	p.types, p.until, p.known = types[:len(types):len(types)], c.Now().Add(ttl), true
	return p.types, nil
}

// Forget drops what is remembered, so that the next question goes to the source.
func (c *Cached) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools = nil
}

func (c *Cached) pool(name string) *cachedPool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.pools[name]
	if !ok {
		p = &cachedPool{turn: make(chan struct{}, 1)}
		p.turn <- struct{}{}
		if c.pools == nil {
			c.pools = map[string]*cachedPool{}
		}
		c.pools[name] = p
	}
	return p
}

var _ Source = (*Cached)(nil)
