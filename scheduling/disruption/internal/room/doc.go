// Package room tells, in round figures, what room there is on nodes for pods of others, and which nodes had best stay
// when others go into it. It knows neither rules between pods nor what steps ask for.
package room
