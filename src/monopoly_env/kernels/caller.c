/* The library as an extension module of Python: its compiled functions as functions of Python.

   Each compiled function is `int32 call(int64 *slots)`: slots[0] takes the result, slots[1] the
   error, and the arguments follow, an array as the seven or more words of Numba's array structure.
   `function` makes a callable from a layout that names the type of each argument; a call checks
   them, fills the slots and releases the GIL while the code runs. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t (*Call)(int64_t *);

/* Generated with the code, for each kind of processor: for each export the wrapper, and the function
   itself. LEVELS lists the kinds, the newest first: X(v4)X(v3)X(v2). */
typedef struct {
    const char *level;
    const Call *calls;
    const void *const *functions;
} Code;
#define X(level) \
    extern const Call monopoly_calls_##level[]; \
    extern const void *const monopoly_functions_##level[];
LEVELS
#undef X
#define X(level) {#level, monopoly_calls_##level, monopoly_functions_##level},
static const Code CODES[] = {LEVELS {NULL, NULL, NULL}};
#undef X

/* The head of NumPy's ndarray, part of its ABI since 1.7. */
typedef struct {
    PyObject_HEAD
    char *data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} Array;

enum { C_CONTIGUOUS = 1, ALIGNED = 0x100, WRITEABLE = 0x400, MOST_SLOTS = 512 };

/* The type of an argument: 'i', 'f', 'b' a number, 'a' an array, 't' a tuple, whose items follow. */
typedef struct {
    char kind;
    int size; /* dimensions of an array, or items of a tuple */
    int64_t itemsize;
    PyObject *dtype;
} Type;

typedef struct {
    Call call;
    char result; /* 'i', 'f', 'b', or 'n' for none */
    Py_ssize_t arguments;
    Type types[];
} Function;

static PyObject *ndarray, *loads;
static const Code *code; /* for this processor */

static int wrong(Py_ssize_t number, const char *expected, PyObject *given) {
    PyErr_Format(PyExc_TypeError, "argument %zd must be %s, not %.80R", number + 1, expected, given);
    return -1;
}

static int fill_array(const Type *type, PyObject *object, Py_ssize_t number, int64_t **slot) {
    if (!PyObject_TypeCheck(object, (PyTypeObject *)ndarray))
        return wrong(number, "an array", (PyObject *)Py_TYPE(object));
    Array *array = (Array *)object;
    if (array->ndim != type->size) {
        PyErr_Format(PyExc_TypeError, "argument %zd must have %d dimensions, not %d", number + 1,
                     type->size, array->ndim);
        return -1;
    }
    if (array->dtype != type->dtype) {
        int same = PyObject_RichCompareBool(array->dtype, type->dtype, Py_EQ);
        if (same < 0)
            return -1;
        if (!same) {
            PyErr_Format(PyExc_TypeError, "argument %zd must be an array of %R, not of %R",
                         number + 1, type->dtype, array->dtype);
            return -1;
        }
    }
    const int needed = C_CONTIGUOUS | ALIGNED | WRITEABLE;
    if ((array->flags & needed) != needed)
        return wrong(number, "contiguous, aligned and writable", object);
    int64_t *word = *slot, items = 1;
    for (int i = 0; i < type->size; i++) {
        items *= array->shape[i];
        word[5 + i] = array->shape[i];
        word[5 + type->size + i] = array->strides[i];
    }
    word[0] = word[1] = 0; /* no owner: the caller keeps it */
    word[2] = items;
    word[3] = type->itemsize;
    word[4] = (int64_t)(intptr_t)array->data;
    *slot += 5 + 2 * type->size;
    return 0;
}

static int fill(const Type **at, PyObject *object, Py_ssize_t number, int64_t **slot) {
    const Type *type = (*at)++;
    if (type->kind == 'a')
        return fill_array(type, object, number, slot);
    if (type->kind == 'i') {
        PyObject *whole = PyNumber_Index(object);
        if (!whole)
            return -1;
        *(*slot)++ = (int64_t)PyLong_AsUnsignedLongLongMask(whole);
        Py_DECREF(whole);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (type->kind == 'f') {
        double value = PyFloat_AsDouble(object);
        memcpy((*slot)++, &value, sizeof value);
        return value == -1 && PyErr_Occurred() ? -1 : 0;
    }
    if (type->kind == 'b') {
        int value = PyObject_IsTrue(object);
        *(*slot)++ = value;
        return value < 0 ? -1 : 0;
    }
    if (!PyTuple_Check(object) || PyTuple_Size(object) != type->size)
        return wrong(number, "a tuple of its length", object);
    for (int i = 0; i < type->size; i++)
        if (fill(at, PyTuple_GetItem(object, i), number, slot))
            return -1;
    return 0;
}

/* Raise the error that compiled code left: a pickled class and its arguments. */
static PyObject *failure(int32_t status, const int64_t *slots) {
    const struct { const char *data; int32_t size; } *error = (const void *)(intptr_t)slots[1];
    if (status > 0 && error) {
        PyObject *about = PyObject_CallFunction(loads, "y#", error->data, (Py_ssize_t)error->size);
        if (!about)
            return NULL;
        PyObject *kind = PyTuple_GetItem(about, 0), *given = PyTuple_GetItem(about, 1);
        if (kind && given) {
            PyObject *raised = given == Py_None ? PyObject_CallObject(kind, NULL)
                                                : PyObject_CallObject(kind, given);
            if (raised)
                PyErr_SetObject(kind, raised);
            Py_XDECREF(raised);
        }
        Py_DECREF(about);
        return NULL;
    }
    return PyErr_Format(PyExc_SystemError, "compiled code failed with status %d", (int)status);
}

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    const Function *function = PyCapsule_GetPointer(self, NULL);
    if (count != function->arguments)
        return PyErr_Format(PyExc_TypeError, "expected %zd arguments, not %zd",
                            function->arguments, count);
    int64_t slots[MOST_SLOTS] = {0}, *slot = slots + 2;
    const Type *at = function->types;
    for (Py_ssize_t i = 0; i < count; i++)
        if (fill(&at, arguments[i], i, &slot))
            return NULL;
    PyThreadState *state = PyEval_SaveThread();
    int32_t status = function->call(slots);
    PyEval_RestoreThread(state);
    if (status != 0 && status != -2) /* -2: it returned None */
        return failure(status, slots);
    if (function->result == 'i')
        return PyLong_FromLongLong(slots[0]);
    if (function->result == 'b')
        return PyBool_FromLong(slots[0] & 1);
    if (function->result == 'f') {
        double value;
        memcpy(&value, slots, sizeof value);
        return PyFloat_FromDouble(value);
    }
    Py_RETURN_NONE;
}

/* The number of types in a layout: (kind,), ("a", dtype, ndim, itemsize) or ("t", layout, ...). */
static int count_types(PyObject *layout) {
    Py_ssize_t size = PyTuple_Size(layout);
    int count = 1;
    if (*PyUnicode_AsUTF8AndSize(PyTuple_GetItem(layout, 0), NULL) == 't')
        for (Py_ssize_t i = 1; i < size; i++)
            count += count_types(PyTuple_GetItem(layout, i));
    return count;
}

/* Write the types of a layout, and return how many slots its values take. */
static int write_types(PyObject *layout, Type **at) {
    Type *type = (*at)++;
    type->kind = *PyUnicode_AsUTF8AndSize(PyTuple_GetItem(layout, 0), NULL);
    if (type->kind == 'a') {
        type->dtype = PyTuple_GetItem(layout, 1);
        Py_INCREF(type->dtype);
        type->size = (int)PyLong_AsLong(PyTuple_GetItem(layout, 2));
        type->itemsize = PyLong_AsLongLong(PyTuple_GetItem(layout, 3));
        return 5 + 2 * type->size;
    }
    if (type->kind != 't')
        return 1;
    type->size = (int)PyTuple_Size(layout) - 1;
    int slots = 0;
    for (int i = 0; i < type->size; i++)
        slots += write_types(PyTuple_GetItem(layout, i + 1), at);
    return slots;
}

static void forget(PyObject *capsule) {
    free(PyCapsule_GetPointer(capsule, NULL)); /* its dtypes stay: a function lives as long as we */
}

static PyMethodDef CALL = {"compiled", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static PyObject *make_function(PyObject *module, PyObject *arguments) {
    (void)module;
    int index;
    const char *result;
    PyObject *layouts;
    if (!PyArg_ParseTuple(arguments, "isO!", &index, &result, &PyTuple_Type, &layouts))
        return NULL;
    Py_ssize_t count = PyTuple_Size(layouts);
    int types = 0, slots = 2;
    for (Py_ssize_t i = 0; i < count; i++)
        types += count_types(PyTuple_GetItem(layouts, i));
    Function *function = calloc(1, sizeof(Function) + types * sizeof(Type));
    if (!function)
        return PyErr_NoMemory();
    function->call = code->calls[index];
    function->result = *result;
    function->arguments = count;
    Type *at = function->types;
    for (Py_ssize_t i = 0; i < count; i++)
        slots += write_types(PyTuple_GetItem(layouts, i), &at);
    if (slots > MOST_SLOTS) {
        free(function);
        return PyErr_Format(PyExc_SystemError, "%d slots; at most %d", slots, MOST_SLOTS);
    }
    PyObject *capsule = PyCapsule_New(function, NULL, forget);
    PyObject *made = capsule ? PyCFunction_NewEx(&CALL, capsule, NULL) : NULL;
    Py_XDECREF(capsule);
    return made;
}

static PyObject *address(PyObject *module, PyObject *index) {
    (void)module;
    long number = PyLong_AsLong(index);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    return PyLong_FromVoidPtr((void *)code->functions[number]);
}

static PyMethodDef METHODS[] = {
    {"function", make_function, METH_VARARGS, "function(index, result, layouts): a callable."},
    {"address", address, METH_O, "address(index): of a compiled function, for compiled callers."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "exports", NULL, -1, METHODS,
                                    NULL, NULL, NULL, NULL};

#ifdef __x86_64__
static void cpuid(uint32_t leaf, uint32_t words[4]) {
    __asm__("cpuid" : "=a"(words[0]), "=b"(words[1]), "=c"(words[2]), "=d"(words[3])
                    : "a"(leaf), "c"(0));
}

/* The levels of x86-64, each with the bits of CPUID that it needs, and the registers that the system
   must keep (XCR0). */
static const struct { const char *name; uint32_t basic, extended, amd, kept; } NEEDS[] = {
    {"v2", 0x00982201, 0, 1, 0},                   /* SSE3, SSSE3, CX16, SSE4, POPCNT; LAHF */
    {"v3", 0x38d83201, 0x00000128, 0x21, 0x6},     /* FMA, MOVBE, AVX, F16C; BMI, AVX2; LZCNT */
    {"v4", 0x38d83201, 0xd0030128, 0x21, 0xe6}};   /* AVX-512: F, DQ, CD, BW, VL */

static int runs(const char *level) {
    uint32_t basic[4], extended[4], amd[4], kept = 0, high;
    cpuid(1, basic);
    cpuid(7, extended);
    cpuid(0x80000001, amd);
    if (basic[2] >> 27 & 1) /* OSXSAVE */
        __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++)
        if (!strcmp(level, NEEDS[i].name))
            return !(NEEDS[i].basic & ~basic[2]) && !(NEEDS[i].extended & ~extended[1]) &&
                   !(NEEDS[i].amd & ~amd[2]) && !(NEEDS[i].kept & ~kept);
    return 0;
}
#else
static int runs(const char *level) { return level != NULL; }
#endif

/* Code for this processor: the newest, or what MONOPOLY_ENV_COMPILED names. */
static int choose(void) {
    const char *wanted = getenv("MONOPOLY_ENV_COMPILED");
    int named = wanted && *wanted && strcmp(wanted, "1");
    for (code = CODES; code->level; code++)
        if ((!named || !strcmp(wanted, code->level)) && runs(code->level))
            return 0;
    PyErr_Format(PyExc_ImportError, named ? "it has no code %s that this processor runs"
                                          : "this processor is older than all that it has code for",
                 wanted);
    return -1;
}

PyMODINIT_FUNC PyInit_exports(void) {
    if (choose())
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy"), *pickle = PyImport_ImportModule("pickle");
    PyObject *module = numpy && pickle ? PyModule_Create(&MODULE) : NULL;
    ndarray = module ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    loads = module ? PyObject_GetAttrString(pickle, "loads") : NULL;
    if (module && PyModule_AddStringConstant(module, "level", code->level))
        return NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(pickle);
    return ndarray && loads ? module : NULL;
}
