package api

import (
	"fmt"
	"sync/atomic"
)

// LogType is a log level.
type LogType int

// Log levels.
const (
	Trace    LogType = 0
	Debug    LogType = 1
	Info     LogType = 2
	Warn     LogType = 3
	Error    LogType = 4
	Critical LogType = 5
)

var logNames = [...]string{"trace", "debug", "info", "warn", "error", "critical"}

// String returns the name of the level.
func (self LogType) String() string {
	if self < Trace || self > Critical {
		return "unknown"
	}
	return logNames[self]
}

// Logger receives log messages outside of exchanges.
type Logger interface {
	Log(level LogType, text string)
	LogLevel() LogType
}

var logger atomic.Pointer[Logger]

// SetLogger sets the logger. The SDK calls it when the host has opened the library; earlier messages, such as those of
// an init function, are dropped.
func SetLogger(to Logger) { logger.Store(&to) }

func log(level LogType, text string) {
	if to := logger.Load(); to != nil && (*to).LogLevel() <= level {
		(*to).Log(level, text)
	}
}

func logf(level LogType, format string, v []any) {
	// The text is formatted only if it is logged.
	if to := logger.Load(); to != nil && (*to).LogLevel() <= level {
		(*to).Log(level, fmt.Sprintf(format, v...))
	}
}

// GetLogLevel returns the minimum level that is logged.
func GetLogLevel() LogType {
	if to := logger.Load(); to != nil {
		return (*to).LogLevel()
	}
	return Info
}

// LogTrace logs a message.
func LogTrace(message string) { log(Trace, message) }

// LogDebug logs a message.
func LogDebug(message string) { log(Debug, message) }

// LogInfo logs a message.
func LogInfo(message string) { log(Info, message) }

// LogWarn logs a message.
func LogWarn(message string) { log(Warn, message) }

// LogError logs a message.
func LogError(message string) { log(Error, message) }

// LogCritical logs a message; in eddy as an error.
func LogCritical(message string) { log(Critical, message) }

// LogTracef logs a message.
func LogTracef(format string, v ...any) { logf(Trace, format, v) }

// LogDebugf logs a message.
func LogDebugf(format string, v ...any) { logf(Debug, format, v) }

// LogInfof logs a message.
func LogInfof(format string, v ...any) { logf(Info, format, v) }

// LogWarnf logs a message.
func LogWarnf(format string, v ...any) { logf(Warn, format, v) }

// LogErrorf logs a message.
func LogErrorf(format string, v ...any) { logf(Error, format, v) }

// LogCriticalf logs a message; in eddy as an error.
func LogCriticalf(format string, v ...any) { logf(Critical, format, v) }
