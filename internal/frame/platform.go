package frame

import "fmt"

// CheckPlatform refuses a system, named as runtime.GOOS names it, on which
// serve has no transport (decision 1). The error's text is for the user.
func CheckPlatform(goos string) error {
	if goos == "windows" {
		return fmt.Errorf("%w (this is %s)", ErrUnsupported, goos)
	}
	return nil
}
