package addons

import (
	"encoding/json"
	"errors"
	"reflect"
)

// keeps says whether the values of others mean the same before and after.
func keeps(before, after string, recorded, now managedRecord) error {
	bare := func(text string, records ...managedRecord) (any, error) {
		d, err := parseValues(text)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			for _, a := range r.Additions {
				d.remove(a)
			}
		}
		for _, r := range records {
			d.prune(r.Created)
		}
		return d.decoded()
	}
	created := managedRecord{Created: now.Created}
	one, err := bare(before, recorded, created)
	if err != nil {
		return err
	}
	other, err := bare(after, now, managedRecord{Created: recorded.Created})
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(one, other) {
		return errors.New("the configuration values cannot be edited without a change of what is not eksproxy's; write them as plain YAML or JSON")
	}
	return nil
}

// sameValues says whether two texts of configuration values mean the same.
func sameValues(a, b string) bool {
	one, err1 := parseValues(a)
	other, err2 := parseValues(b)
	if err1 != nil || err2 != nil {
		return a == b
	}
	x, err1 := one.decoded()
	y, err2 := other.decoded()
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

// plain is a value as encoding/json gives it, for it to be compared with what is
// read.
func plain(v any) any {
	data, err := json.Marshal(v)
	var out any
	if err != nil || json.Unmarshal(data, &out) != nil {
		return v
	}
	return out
}
