package api

import (
	"fmt"
	"sync/atomic"
)

// LogType is the weight of a log record.
type LogType int

// The weights.
const (
	Trace    LogType = 0
	Debug    LogType = 1
	Info     LogType = 2
	Warn     LogType = 3
	Error    LogType = 4
	Critical LogType = 5
)

var logNames = [...]string{"trace", "debug", "info", "warn", "error", "critical"}

// String names the weight.
func (self LogType) String() string {
	if self < Trace || self > Critical {
		return "unknown"
	}
	return logNames[self]
}

// Logger is where records go that belong to no exchange.
type Logger interface {
	Log(level LogType, text string)
	LogLevel() LogType
}

var logger atomic.Pointer[Logger]

// SetLogger says where records go. The kit calls it when the host has opened the library; records from before that,
// such as those of an init function, go nowhere.
func SetLogger(to Logger) { logger.Store(&to) }

func log(level LogType, text string) {
	if to := logger.Load(); to != nil && (*to).LogLevel() <= level {
		(*to).Log(level, text)
	}
}

func logf(level LogType, format string, v []any) {
	// The text is made only where somebody reads it.
	if to := logger.Load(); to != nil && (*to).LogLevel() <= level {
		(*to).Log(level, fmt.Sprintf(format, v...))
	}
}

// GetLogLevel is the least weight that is written.
func GetLogLevel() LogType {
	if to := logger.Load(); to != nil {
		return (*to).LogLevel()
	}
	return Info
}

// LogTrace writes a record.
func LogTrace(message string) { log(Trace, message) }

// LogDebug writes a record.
func LogDebug(message string) { log(Debug, message) }

// LogInfo writes a record.
func LogInfo(message string) { log(Info, message) }

// LogWarn writes a record.
func LogWarn(message string) { log(Warn, message) }

// LogError writes a record.
func LogError(message string) { log(Error, message) }

// LogCritical writes a record; in eddy as an error.
func LogCritical(message string) { log(Critical, message) }

// LogTracef writes a record.
func LogTracef(format string, v ...any) { logf(Trace, format, v) }

// LogDebugf writes a record.
func LogDebugf(format string, v ...any) { logf(Debug, format, v) }

// LogInfof writes a record.
func LogInfof(format string, v ...any) { logf(Info, format, v) }

// LogWarnf writes a record.
func LogWarnf(format string, v ...any) { logf(Warn, format, v) }

// LogErrorf writes a record.
func LogErrorf(format string, v ...any) { logf(Error, format, v) }

// LogCriticalf writes a record; in eddy as an error.
func LogCriticalf(format string, v ...any) { logf(Critical, format, v) }
