// Package week lets several autoscalers run the same simulated week: services with a daily wave, batch jobs and spot
// interruptions, in the world of adapters/controller/simulation. [Compare] runs them, and [Table] has a line for each.
//
//	week.go         the settings, the run, and the measures of a run
//	contenders.go   the autoscalers and their settings
//	plimsoll.go     the controller of adapters/controller in the world, with each plan checked by package verify
//	bound.go        the lower bound of the cost, by the pods of each hour
//	table.go        the table
package week
